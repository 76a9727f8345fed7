// Describes the config format for people and editors, for `speclab list` and `speclab schema`.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/format/family.hpp"

namespace speclab {

/// Returns the shortest path of a key in a config ("sampling.temperature" for "temperature"); empty if it is
/// not a key.
std::string path_of_key(const std::string& key);

/// Lists the kinds of each family and the experiments with their keys, one per line. A `word` restricts the
/// list to a family ("rules", "rule"), to a kind with its example, or to the places of a key. Throws
/// UsageError for any other word, with the nearest of these names and of `known`.
std::string list_text(const std::vector<const FamilyBase*>& families, const std::string& word = "",
                      std::vector<std::string> known = {});

/// Returns the whole format in Markdown: keys, ranges, units, defaults and former names.
std::string reference_markdown(const std::vector<const FamilyBase*>& families);

/// Returns the format as JSON Schema (draft 2020-12), with a definition for each family.
Json json_schema(const std::vector<const FamilyBase*>& families);

}  // namespace speclab
