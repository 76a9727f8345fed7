// A file that may hold a recording: its bytes, and its JSON documents if it is JSON.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/support/mapped_file.hpp"
#include "experiments/base/support/text_files.hpp"

namespace speclab {

/// One JSON value of a file: the whole file, an element of its list, or a line.
struct JsonDocument;

class RecordingSource {
 public:
  /// `column` names the drafter in a file with several; empty: the only one. `fields` has the file's own
  /// names of the columns, if any. Throws UsageError if the file cannot be read.
  explicit RecordingSource(std::string file, std::string column = "",
                           std::map<std::string, std::string> fields = {});
  ~RecordingSource();
  RecordingSource(const RecordingSource&) = delete;
  RecordingSource& operator=(const RecordingSource&) = delete;

  const std::string& name() const { return name_; }
  const std::string& column() const { return column_; }
  const std::map<std::string, std::string>& fields() const { return fields_; }
  /// Returns the text, without a byte order mark.
  std::string_view bytes() const { return without_byte_order_mark(file_->bytes()); }
  /// Returns the file, which must outlive views of its bytes.
  std::shared_ptr<const MappedFile> file() const { return file_; }

  /// Returns the first line that is not blank, trimmed.
  std::string_view first_line() const;

  /// Returns the JSON documents, parsed at the first call. Returns nothing if the file is not JSON;
  /// `json_problem` then says why.
  const std::vector<JsonDocument>& documents() const;
  const std::string& json_problem() const;

 private:
  std::string name_;
  std::string column_;
  std::map<std::string, std::string> fields_;
  std::shared_ptr<const MappedFile> file_;
  mutable std::unique_ptr<std::vector<JsonDocument>> documents_;
  mutable std::string problem_;
};

}  // namespace speclab
