#include "core/rules/token.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

const RuleKind& token_rule() {
  static const RuleKind kind = plain_rule_kind<TokenRule>(
      "token", "Algorithm 1: accept with min(1, p/q), else sample norm((p-q)+). Lossless.",
      ExpectedLossless::always);
  return kind;
}

}  // namespace speclab
