// A file that may hold a recording: its bytes, and its JSON where it is JSON.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/format/json.hpp"
#include "experiments/base/support/mapped_file.hpp"

namespace speclab {

/// One JSON value of a file: the whole file, an element of its list, or a line.
struct JsonDocument;

class RecordingSource {
 public:
  /// `column` says which drafter's column is read, of a file with several; empty for the only one. Throws
  /// UsageError for a file that cannot be read.
  explicit RecordingSource(std::string file, std::string column = "");
  ~RecordingSource();
  RecordingSource(const RecordingSource&) = delete;
  RecordingSource& operator=(const RecordingSource&) = delete;

  const std::string& name() const { return name_; }
  const std::string& column() const { return column_; }
  std::string_view bytes() const { return file_->bytes(); }
  /// Kept as long as something views its bytes.
  std::shared_ptr<const MappedFile> file() const { return file_; }

  /// The first line that is not blank, trimmed; and where it is, "file:1".
  std::string_view first_line() const;

  /// The documents of a JSON file, parsed at the first call. Empty when it is not JSON; then `json_problem`
  /// says why not.
  const std::vector<JsonDocument>& documents() const;
  const std::string& json_problem() const;

 private:
  std::string name_;
  std::string column_;
  std::shared_ptr<const MappedFile> file_;
  mutable std::unique_ptr<std::vector<JsonDocument>> documents_;
  mutable std::string problem_;
};

}  // namespace speclab
