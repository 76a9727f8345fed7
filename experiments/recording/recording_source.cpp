#include "experiments/recording/recording_source.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "experiments/config/config_error.hpp"
#include "experiments/config/json_io.hpp"
#include "experiments/recording/json_document.hpp"
#include "experiments/support/csv_reader.hpp"

namespace speclab {

namespace {

constexpr std::string_view blanks = " \t\r\n";

std::shared_ptr<const MappedFile> opened(const std::string& name) {
  try {
    return std::make_shared<const MappedFile>(name);
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace

RecordingSource::RecordingSource(std::string file, std::string column)
    : name_(std::move(file)), column_(std::move(column)), file_(opened(name_)) {
  if (bytes().find_first_not_of(blanks) == std::string_view::npos) {
    throw UsageError(fmt::format("{}: is empty", name_));
  }
}

RecordingSource::~RecordingSource() = default;

std::string_view RecordingSource::first_line() const {
  std::string_view text = bytes();
  text.remove_prefix(text.find_first_not_of(blanks));
  text = text.substr(0, text.find('\n'));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

const std::vector<JsonDocument>& RecordingSource::documents() const {
  if (!documents_) parse();
  return *documents_;
}

const std::string& RecordingSource::json_problem() const {
  documents();
  return problem_;
}

void RecordingSource::parse() const {
  documents_ = std::make_unique<std::vector<JsonDocument>>();
  const std::string_view line = first_line();
  if (line.front() != '{' && line.front() != '[') {
    problem_ = "is not JSON, which begins with { or [";
    return;
  }
  // One document, or one a line: a first line that is a whole value, with others after it.
  const Json first = json_line(std::string(line));
  if (!first.is_discarded() && line.size() + 2 < bytes().size()) {
    for (const TextLine& one : lines_of(bytes(), name_)) {
      Json value = json_line(one.text);
      if (value.is_discarded()) {
        documents_->clear();
        problem_ = fmt::format("{}: this line is not JSON, but the first is", one.where);
        return;
      }
      documents_->push_back({one.where, std::move(value)});
    }
    return;
  }
  try {
    Json whole = parse_json(std::string(bytes()));
    if (!whole.is_array()) {
      documents_->push_back({name_, std::move(whole)});
      return;
    }
    for (std::size_t i = 0; i < whole.size(); ++i) {
      documents_->push_back({fmt::format("{}[{}]", name_, i), std::move(whole[i])});
    }
  } catch (const ConfigError& error) {
    problem_ = error.what();
  }
}

}  // namespace speclab
