#include "experiments/studies/compare/compare_cells.hpp"
#include "experiments/run/result_rows.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/run/experiment.hpp"

namespace speclab {

namespace {

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

std::string set_text(const CellResult& cell, const char* what) {
  const Json* value = set_value(cell, what);
  return value != nullptr ? value->get<std::string>() : "";
}

const CompareResult* numbers_of(const CellResult& cell) {
  if (cell.partial || cell.own == nullptr) return nullptr;
  const auto& comparison = own<CompareResult>(cell);
  return comparison.ran() ? &comparison : nullptr;
}

std::vector<std::string> policy_names(const Result& result) {
  std::vector<std::string> names;
  for (const CellResult& cell : result.cells) {
    const CompareResult* comparison = numbers_of(cell);
    if (comparison == nullptr) continue;
    for (const PolicyResult& policy : comparison->policies) add_new(names, policy.name);
  }
  return names;
}

std::vector<std::string> distinct(const Result& result, const char* what) {
  std::vector<std::string> all;
  for (const CellResult& cell : result.cells) add_new(all, set_text(cell, what));
  return all;
}

}  // namespace speclab
