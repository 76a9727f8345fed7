// The config format for people and editors: what `speclab list` and `speclab schema` print.
#pragma once

#include <string>
#include <vector>

#include "experiments/config/family.hpp"

namespace speclab {

/// Every kind of the families and every experiment, with its keys, a line each.
std::string list_text(const std::vector<const FamilyBase*>& families);

/// The whole format in Markdown: keys, ranges, units, defaults and former names.
std::string reference_markdown(const std::vector<const FamilyBase*>& families);

/// The format as JSON Schema (draft 2020-12), with a definition for each family.
Json json_schema(const std::vector<const FamilyBase*>& families);

}  // namespace speclab
