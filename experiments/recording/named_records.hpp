// Reads records of values: lines below a CSV header that names the needed columns, and perhaps others, or
// lines of JSON in which a dot leads into an object.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "experiments/base/support/csv.hpp"

namespace speclab {

/// The remedy for a missing name, as the end of a sentence.
inline constexpr const char* fields_remedy = "say with --fields which names there are";

class NamedColumns {
 public:
  /// Throws UsageError if the header lacks a name or has it twice.
  NamedColumns(const TextLine& header, const std::vector<std::string>& names,
               const char* remedy = fields_remedy);

  /// Returns the line's words in the order of the names. Throws UsageError for a line of more or fewer words
  /// than the header.
  std::vector<std::string> words(const TextLine& line) const;

 private:
  std::vector<std::size_t> columns_;
  std::size_t count_ = 0;
};

/// Columns or keys by speclab's names for them, as --fields gives them.
using NamedFields = std::map<std::string, std::string>;

/// Returns the fields of "accepted=acc_tokens,drafted=usage.draft". Throws UsageError, which names --fields,
/// for other texts.
NamedFields parse_fields(const std::string& text);

/// Throws UsageError for a name that is not known.
void check_fields(const NamedFields& fields, std::initializer_list<const char*> known);

/// Calls `visit` with every line and its values by speclab's names. Throws UsageError, naming the line, if
/// one lacks a field.
void each_named_record(
    const std::vector<TextLine>& lines, const NamedFields& fields,
    const std::function<void(const TextLine&, const std::map<std::string, std::string>&)>& visit,
    const char* remedy = fields_remedy);

/// A recording's token ids, to train models on.
struct RecordedIds {
  std::string name;  ///< name of the sequence
  std::vector<std::int64_t> ids;
};

/// Returns the sequences of a CSV or JSON-lines file with columns or keys "sequence" and "token", in order of
/// first appearance. Throws UsageError, with file and line, if these are missing.
std::vector<RecordedIds> read_recorded_ids(const std::string& file);

}  // namespace speclab
