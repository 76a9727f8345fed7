#include "experiments/presentation/set_values.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "experiments/report/cells.hpp"
#include "experiments/run/csv_values.hpp"

namespace speclab {

std::optional<double> set_number(const CellResult& cell, const std::string& path) {
  const Json* value = set_value(cell, path);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

std::optional<std::string> set_text(const CellResult& cell, const std::string& path) {
  const Json* value = set_value(cell, path);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return number_text(value->get<double>());
  // A kind with its parameters goes by its name.
  const auto kind = value->is_object() ? value->find("kind") : value->end();
  if (value->is_object() && kind != value->end() && kind->is_string()) return kind->get<std::string>();
  return value->is_string() ? value->get<std::string>() : value->dump();
}

std::string axis_label(const std::string& path) {
  static const std::map<std::string, std::string> symbols{{"alpha", "α"}, {"gamma", "γ"}, {"c_hat", "ĉ"}};
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto found = symbols.find(name);
  return found == symbols.end() ? name : found->second;
}

}  // namespace speclab
