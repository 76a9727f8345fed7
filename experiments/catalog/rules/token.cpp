#include "core/rules/token.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind token_rule() {
  return rule_kind<TokenRule>("token",
                              "Algorithm 1: accept with min(1, p/q), else sample norm((p-q)+). Lossless.",
                              ExpectedLossless::always);
}

}  // namespace speclab
