// The config format for people and editors: what `speclab list` and `speclab schema` print.
#pragma once

#include <string>
#include <vector>

#include "experiments/format/family.hpp"

namespace speclab {

/// Every kind of the families and every experiment, with its keys, a line each; with a word, those of the
/// family ("rules", "rule") or of the name that it is, with its example. UsageError for another word, with
/// the nearest of these names and of `known`.
std::string list_text(const std::vector<const FamilyBase*>& families, const std::string& word = "",
                      std::vector<std::string> known = {});

/// The whole format in Markdown: keys, ranges, units, defaults and former names.
std::string reference_markdown(const std::vector<const FamilyBase*>& families);

/// The format as JSON Schema (draft 2020-12), with a definition for each family.
Json json_schema(const std::vector<const FamilyBase*>& families);

}  // namespace speclab
