// The section "rules", of the experiment that compares rules.
#pragma once

#include "experiments/config/config.hpp"

namespace speclab {

struct RulesSection {
  bool equality_test = false;  ///< run the test of `speclab check` besides
};

const SectionKind& rules_section();

}  // namespace speclab
