#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_stale_siblings_rule() {
  return planted_fault(paths_rule_kind<StaleSiblingsFault>(
      "fault-stale-siblings", "Planted fault: recursive rejection that never updates p.",
      ExpectedLossless::never));
}

}  // namespace speclab
