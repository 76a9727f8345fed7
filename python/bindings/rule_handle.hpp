// The handle of a rule in Python.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "python/bindings/numbers.hpp"

namespace speclab::python {

struct RuleHandle {
  std::string name;
  /// Makes the rule for rounds of `gamma` drafted tokens. A rule written in Python enumerates at most
  /// `max_branches` branches.
  std::function<RulePrograms(std::int32_t gamma, double max_branches)> make;
  bool in_python = false;
  bool own_drafter = false;  ///< drafts by its own function, so that the draft model has no effect
  std::vector<HeldObject> functions = {};  ///< those that `make` reads, and the handle of a rule within it
};

}  // namespace speclab::python
