// The config format for people and editors: what `speclab list` and `speclab schema` print.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/format/family.hpp"

namespace speclab {

/// Where a key stands in a config, as --set takes it: "sampling.temperature" for "temperature", the place of
/// fewest steps. Empty for a word that is no key.
std::string path_of_key(const std::string& key);

/// Every kind of the families and every experiment, with its keys, a line each; with a word, those of the
/// family ("rules", "rule") or of the name that it is, with its example; else the places of the key that it
/// is. UsageError for another word, with the nearest of these names and of `known`.
std::string list_text(const std::vector<const FamilyBase*>& families, const std::string& word = "",
                      std::vector<std::string> known = {});

/// The whole format in Markdown: keys, ranges, units, defaults and former names.
std::string reference_markdown(const std::vector<const FamilyBase*>& families);

/// The format as JSON Schema (draft 2020-12), with a definition for each family.
Json json_schema(const std::vector<const FamilyBase*>& families);

}  // namespace speclab
