// Records of servers within JSON documents.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/advisor/log_source.hpp"
#include "experiments/recording/json_document.hpp"

namespace speclab {

/// The objects of a document, at any depth up to 8, that have this key.
std::vector<JsonPlace> objects_with(const JsonDocument& document, const char* key);

/// Why a file is not in a format that is known by objects with this key; empty when some document has one.
std::string no_object_with(const LogSource& source, const char* key);

/// "model" of a response; empty without one.
std::string model_of(const JsonDocument& document);

/// An integer of 0 or more; UsageError otherwise.
std::uint64_t count_in(const JsonPlace& place);

/// A list of them.
std::vector<std::uint64_t> counts_in(const JsonPlace& place);

std::uint64_t counted_sum(const std::vector<std::uint64_t>& counts);

}  // namespace speclab
