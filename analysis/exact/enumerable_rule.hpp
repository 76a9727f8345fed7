// Holds any verification rule as one value (type erasure) whose rounds can be enumerated, in double or in
// exact rationals. The code is compiled where an EnumerableRule is constructed from a rule, which needs
// analysis/exact/enumeration_program.hpp; code that takes an EnumerableRule is compiled once for all rules.
#pragma once

#include <concepts>
#include <memory>

namespace speclab {

class EnumerationProgram;

class EnumerableRule {
 public:
  template <class Rule>
  requires(!std::same_as<Rule, EnumerableRule>)
      // NOLINTNEXTLINE(google-explicit-constructor): any rule is an EnumerableRule
      EnumerableRule(Rule rule);

  const EnumerationProgram* operator->() const { return program_.get(); }

 private:
  std::shared_ptr<const EnumerationProgram> program_;
};

}  // namespace speclab
