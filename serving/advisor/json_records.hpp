// Finds servers' records in JSON documents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/recording/json_document.hpp"
#include "serving/advisor/log_source.hpp"

namespace speclab {

/// An object in a document.
struct JsonRecord {
  JsonPlace place;
  std::string model;                                    ///< its model's name, if given
  std::optional<std::uint64_t> completion_tokens = {};  ///< the document's usage, if it has no other record
};

/// Returns the file's objects, up to depth 8, that have this key. Of the parts of a streamed response, which
/// share an id or have "stop": false, only the last is returned.
std::vector<JsonRecord> records_with(const LogSource& source, const char* key,
                                     const char* model_key = "model");

/// Returns why a file is not in a format recognised by objects with this key; empty if it has one.
std::string no_record_with(const LogSource& source, const char* key);

/// Returns an integer of 0 or more. Throws UsageError otherwise.
std::uint64_t count_in(const JsonPlace& place);

/// Returns a list of such integers.
std::vector<std::uint64_t> counts_in(const JsonPlace& place);

}  // namespace speclab
