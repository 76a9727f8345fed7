#include "core/rules/sigmoid.hpp"

#include <fmt/format.h>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind sigmoid_rule() {
  return rule_kind<SigmoidRule>(
      "sigmoid",
      "Algorithm 1 on sigmoids of scaled logits instead of probabilities (Wagner et al. 2024). Lossy.",
      ExpectedLossless::never,
      {field("alpha", &SigmoidRule::alpha, number(-1e9, 1e9), "Smallest scaled logit."),
       field("beta", &SigmoidRule::beta, number(-1e9, 1e9), "Largest scaled logit.")},
      [](const SigmoidRule& rule, const std::string& path, const RuleRequest&) {
        if (rule.alpha >= rule.beta) {
          throw ConfigError(path + "/beta", "{} is not above alpha = {}", rule.beta, rule.alpha);
        }
        return rule;
      });
}

}  // namespace speclab
