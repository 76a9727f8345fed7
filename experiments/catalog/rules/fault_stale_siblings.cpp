#include "core/rules/faults.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

const RuleKind& fault_stale_siblings_rule() {
  static const RuleKind kind = planted_fault(paths_rule_kind<StaleSiblingsFault>(
      "fault-stale-siblings", "Planted fault: recursive rejection that never updates p.",
      ExpectedLossless::never));
  return kind;
}

}  // namespace speclab
