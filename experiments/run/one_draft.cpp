#include "experiments/run/one_draft.hpp"

#include <fmt/format.h>

#include "experiments/format/config_error.hpp"

namespace speclab {

void require_one_draft(const AnyRule& rule, const RuleConfig& config, const std::string& experiment) {
  if (rule->one_draft()) return;
  throw ConfigError(
      config.path + "/kind",
      fmt::format(
          "\"{}\" drafts several sequences at once, and {} takes rounds of one; choose a rule of one draft",
          config.name(), experiment));
}

}  // namespace speclab
