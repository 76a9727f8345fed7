// Records of servers within JSON documents.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/recording/json_document.hpp"
#include "serving/advisor/log_source.hpp"

namespace speclab {

/// An object of a document, and the text that the document has for its model; empty without one.
struct JsonRecord {
  JsonPlace place;
  std::string model;
};

/// The objects of a file, at any depth up to 8, that have this key.
std::vector<JsonRecord> records_with(const LogSource& source, const char* key,
                                     const char* model_key = "model");

/// Why a file is not in a format that is known by objects with this key; empty when it has one.
std::string no_record_with(const LogSource& source, const char* key);

/// An integer of 0 or more; UsageError otherwise.
std::uint64_t count_in(const JsonPlace& place);

/// A list of them.
std::vector<std::uint64_t> counts_in(const JsonPlace& place);

}  // namespace speclab
