#include "experiments/config/type.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/config/config_error.hpp"

namespace speclab {

void Type::rename(Json&, const std::string&, std::vector<RenamedUse>&) const {}

const Type* Type::below(std::string&) const { return nullptr; }

void reject(const std::string& path, const Json& value, const std::string& wanted) {
  throw ConfigError(path, fmt::format("{} is not {}", shown(value), wanted));
}

std::string shown(const Json& value) {
  constexpr std::size_t longest = 60;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

}  // namespace speclab
