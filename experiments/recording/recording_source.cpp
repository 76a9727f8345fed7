#include "experiments/recording/recording_source.hpp"

#include <stdexcept>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/recording/json_document.hpp"

namespace speclab {

namespace {

std::shared_ptr<const MappedFile> opened(const std::string& name) {
  try {
    return std::make_shared<const MappedFile>(name);
  } catch (const std::runtime_error& error) {
    throw UsageError("{}: {}", name, error.what());
  }
}

}  // namespace

RecordingSource::RecordingSource(std::string file, std::string column,
                                 std::map<std::string, std::string> fields)
    : name_(std::move(file)), column_(std::move(column)), fields_(std::move(fields)), file_(opened(name_)) {
  if (first_line().empty()) throw UsageError("{}: is empty", name_);
  if (const std::string problem = byte_order_mark_problem(bytes()); !problem.empty())
    throw UsageError("{}: {}", name_, problem);
}

RecordingSource::~RecordingSource() = default;

std::string_view RecordingSource::first_line() const { return first_line_of(bytes()); }

const std::vector<JsonDocument>& RecordingSource::documents() const {
  if (!documents_)
    documents_ = std::make_unique<std::vector<JsonDocument>>(json_documents(bytes(), name_, problem_));
  return *documents_;
}

const std::string& RecordingSource::json_problem() const {
  documents();
  return problem_;
}

}  // namespace speclab
