// What the report of a comparison asks of its cells.
#pragma once

#include <string>
#include <vector>

#include "experiments/studies/compare/compare.hpp"

namespace speclab {

/// The cell's "task" or "drafter".
std::string set_text(const CellResult& cell, const char* what);
/// Those of all cells, each once.
std::vector<std::string> distinct(const Result& result, const char* what);

/// Null for a cell without numbers.
const CompareResult* numbers_of(const CellResult& cell);

/// Of all cells, each once.
std::vector<std::string> policy_names(const Result& result);

}  // namespace speclab
