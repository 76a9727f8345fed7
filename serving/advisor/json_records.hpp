// Finds servers' records in JSON documents.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/recording/json_document.hpp"
#include "serving/advisor/log_source.hpp"

namespace speclab {

/// An object in a document.
struct JsonRecord {
  JsonPlace place;
  std::string model;  ///< its model's name, if given
  /// Those that the document's usage counts; empty if the document has several records.
  std::optional<std::uint64_t> completion_tokens = {};
};

/// Keys by which the objects of a format are recognised: each has one or more of them.
using RecordKeys = std::vector<const char*>;

/// Returns the file's objects, up to depth 8, that have one of these keys. Of the parts of a streamed
/// response, which share an id or have "stop": false, only the last is returned.
std::vector<JsonRecord> records_with(const LogSource& source, const RecordKeys& keys,
                                     const char* model_key = "model");

/// Returns true if the file has an object with one of these keys.
bool has_record_with(const LogSource& source, const RecordKeys& keys);

/// Returns the place of the first of these keys that exists.
std::optional<JsonPlace> first_of(const JsonPlace& place, std::initializer_list<const char*> keys);

/// Throws UsageError, with both numbers, if a key is there and its number is not the one that follows from
/// the record's other counts. Rates and means may be rounded to two decimals.
void check_stated(const JsonPlace& record, const std::vector<std::pair<const char*, double>>& counted);

/// Returns an integer of 0 or more. Throws UsageError otherwise.
std::uint64_t count_in(const JsonPlace& place);

/// Returns a list of integers of 0 or more. Throws UsageError otherwise.
std::vector<std::uint64_t> counts_in(const JsonPlace& place);

}  // namespace speclab
