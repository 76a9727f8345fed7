#include "core/rules/sigmoid.hpp"

#include <fmt/format.h>

#include "experiments/catalog/rules/rule_entry.hpp"
#include "experiments/format/config_error.hpp"

namespace speclab {

namespace {

struct LogitRange {
  double alpha = -1000;
  double beta = 1000;
};

}  // namespace

RuleKind sigmoid_rule() {
  return rule_kind<LogitRange>(
      "sigmoid",
      "Algorithm 1 on sigmoids of scaled logits instead of probabilities (Wagner et al. 2024). Lossy.",
      ExpectedLossless::never,
      {field("alpha", &LogitRange::alpha, number(-1e9, 1e9), "Smallest scaled logit."),
       field("beta", &LogitRange::beta, number(-1e9, 1e9), "Largest scaled logit.")},
      [](const LogitRange& range, const std::string& path, const RuleRequest&) {
        if (range.alpha >= range.beta) {
          throw ConfigError(path + "/beta",
                            fmt::format("{} is not above alpha = {}", range.beta, range.alpha));
        }
        return SigmoidRule(range.alpha, range.beta);
      });
}

}  // namespace speclab
