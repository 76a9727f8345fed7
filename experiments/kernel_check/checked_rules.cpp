#include "experiments/kernel_check/checked_rules.hpp"

#include <fmt/format.h>

namespace speclab {

std::vector<VerifyRule> checked_rules() {
  VerifyRule lenient;
  lenient.method = KernelRule::lenient;
  lenient.lenience = 0.6;
  VerifyRule block;
  block.method = KernelRule::block;
  return {VerifyRule{}, lenient, block};
}

std::string rule_name(const VerifyRule& rule) {
  switch (rule.method) {
    case KernelRule::lenient:
      return fmt::format("lenient {}", rule.lenience);
    case KernelRule::block:
      return "block";
    case KernelRule::token:
      break;
  }
  return "token";
}

}  // namespace speclab
