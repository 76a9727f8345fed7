#include "experiments/catalog/models/corpus_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/csv_reader.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/base/support/text_files.hpp"
#include "experiments/recording/json_document.hpp"
#include "experiments/recording/recording_source.hpp"
#include "sim/error.hpp"

namespace speclab {

namespace {

/// Returns the element of an object or list that one part of a field's name denotes; null if there is none.
const Json* step_into(const Json& value, const std::string& part) {
  if (value.is_object()) return value.contains(part) ? &value[part] : nullptr;
  const auto index = value.is_array() ? integer_in(part) : std::nullopt;
  if (!index || *index < 0 || static_cast<std::size_t>(*index) >= value.size()) return nullptr;
  return &value[static_cast<std::size_t>(*index)];
}

/// Returns a text field as one line. Words end at any white space.
std::string line_of(const JsonDocument& document, const std::string& field) {
  const Json* value = &document.value;
  for (const std::string& part : split(field, '.')) {
    value = step_into(*value, part);
    if (value == nullptr) throw ModelError(fmt::format("{}: no field \"{}\"", document.where, field));
  }
  if (!value->is_string()) {
    throw ModelError(fmt::format("{}: the field \"{}\" is not text", document.where, field));
  }
  std::string text = value->get<std::string>();
  std::replace_if(
      text.begin(), text.end(),
      [](char letter) { return letter == '\n' || letter == '\r' || letter == '\f'; }, ' ');
  return text;
}

/// Adds a token to its sequence.
using AddToken =
    std::function<void(const std::string& sequence, const std::string& token, const std::string& where)>;

std::size_t csv_column(const std::vector<std::string>& header, const char* name, const std::string& where) {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    throw UsageError("{}: no column \"{}\"; token ids are read from a recording, which speclab record writes",
                     where, name);
  }
  if (std::count(header.begin(), header.end(), name) > 1)
    throw UsageError("{}: column \"{}\" occurs twice", where, name);
  return static_cast<std::size_t>(found - header.begin());
}

void read_csv_ids(const std::vector<TextLine>& lines, const AddToken& add) {
  const std::vector<std::string> header = split(lines.front().text, ',');
  const std::size_t name = csv_column(header, "sequence", lines.front().where);
  const std::size_t token = csv_column(header, "token", lines.front().where);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> words = split(lines[i].text, ',');
    if (words.size() != header.size()) {
      throw UsageError("{}: {} fields, but {} columns", lines[i].where, words.size(), header.size());
    }
    add(words[name], words[token], lines[i].where);
  }
}

void read_json_ids(const std::vector<TextLine>& lines, const AddToken& add) {
  for (const TextLine& line : lines) {
    const Json json = json_line(line.text);
    if (!json.is_object() || !json.contains("sequence") || !json.contains("token")) {
      throw UsageError("{}: expected a JSON object with \"sequence\" and \"token\"", line.where);
    }
    const Json& name = json["sequence"];
    add(name.is_string() ? name.get<std::string>() : name.dump(), json["token"].dump(), line.where);
  }
}

}  // namespace

std::string text_of_folder(const std::filesystem::path& folder, Encoding encoding) {
  const std::vector<std::filesystem::path> files = text_files(folder);
  if (files.empty()) throw ModelError(folder.string() + ": has no files");
  std::string all;
  for (const std::filesystem::path& file : files) {
    std::string text = load_text(file, encoding);
    std::replace(text.begin(), text.end(), '\f', '\n');
    if (!all.empty()) all += '\f';
    all += text;
  }
  return all;
}

ParallelDocuments prompt_output_documents(const std::filesystem::path& file, const std::string& prompt_field,
                                          const std::string& output_field, std::int32_t vocabulary_cap) {
  const std::string text = load_text(file, Encoding::utf8);
  std::string problem;
  const std::vector<JsonDocument> records = json_documents(text, file.string(), problem);
  if (records.empty()) {
    throw ModelError(fmt::format("{}: expected JSON lines of prompts and outputs{}{}", file.string(),
                                 problem.empty() ? "" : ": ", problem));
  }
  std::string prompts;
  std::string outputs;
  for (const JsonDocument& record : records) {
    prompts += line_of(record, prompt_field) + '\n';
    outputs += line_of(record, output_field) + '\n';
  }
  return naming(file.string(), [&] { return make_parallel_documents(prompts, outputs, vocabulary_cap); });
}

std::vector<RecordedIds> read_recorded_ids(const std::string& file) {
  const RecordingSource source(file);
  const std::vector<TextLine> lines = lines_of(source.bytes(), file);
  std::vector<RecordedIds> all;
  std::map<std::string, std::size_t> places;
  const AddToken add = [&](const std::string& name, const std::string& token, const std::string& where) {
    constexpr std::size_t max_shown = 40;
    const auto id = integer_in(token);
    if (!id) {
      throw UsageError("{}: token \"{}\" is not an id", where, printable(token, max_shown));
    }
    const auto [found, fresh] = places.emplace(name, all.size());
    if (fresh) all.push_back({name, {}});
    all[found->second].ids.push_back(*id);
  };
  const bool is_json = lines.front().text.starts_with('{');  // the source has already refused an empty file
  (is_json ? read_json_ids : read_csv_ids)(lines, add);
  if (all.empty()) throw UsageError("{}: has no tokens", file);
  return all;
}

}  // namespace speclab
