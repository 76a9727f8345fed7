#include "experiments/check/rule_names.hpp"

#include <fmt/format.h>

namespace speclab {

std::vector<VerifyRule> checked_rules() {
  VerifyRule lenient;
  lenient.method = VerifyMethod::lenient;
  lenient.lenience = 0.6;
  VerifyRule block;
  block.method = VerifyMethod::block;
  return {VerifyRule{}, lenient, block};
}

std::string rule_name(const VerifyRule& rule) {
  switch (rule.method) {
    case VerifyMethod::lenient:
      return fmt::format("lenient {}", rule.lenience);
    case VerifyMethod::block:
      return "block";
    case VerifyMethod::token:
      break;
  }
  return "token";
}

}  // namespace speclab
