// A rule as Python holds it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "experiments/catalog/rules/rule_kind.hpp"

namespace speclab::python {

struct RuleHandle {
  std::string name;
  /// The rule for rounds of so many drafted tokens; one written in Python enumerates at most so many
  /// branches.
  std::function<RulePrograms(std::int32_t gamma, double max_branches)> make;
  bool in_python = false;
  bool own_drafter = false;  ///< drafts by a function of its own, so that the draft model says nothing
};

}  // namespace speclab::python
