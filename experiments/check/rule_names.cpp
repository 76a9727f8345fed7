#include "experiments/check/rule_names.hpp"

#include <fmt/format.h>

namespace speclab {

std::vector<VerifyRule> checked_rules() {
  VerifyRule lenient;
  lenient.method = RuleKind::lenient;
  lenient.lenience = 0.6;
  VerifyRule block;
  block.method = RuleKind::block;
  return {VerifyRule{}, lenient, block};
}

std::string rule_name(const VerifyRule& rule) {
  switch (rule.method) {
    case RuleKind::lenient:
      return fmt::format("lenient {}", rule.lenience);
    case RuleKind::block:
      return "block";
    case RuleKind::token:
      break;
  }
  return "token";
}

}  // namespace speclab
