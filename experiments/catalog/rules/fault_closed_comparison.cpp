#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct Levels {
  std::int32_t levels = 1 << 24;
};

}  // namespace

RuleKind fault_closed_comparison_rule() {
  RuleKind kind = planted_fault(rule_kind<Levels>(
      "fault-closed-comparison", "Planted fault: accepts at u <= p/q with uniforms that can be 0.",
      ExpectedLossless::never,
      {integer_field("levels", &Levels::levels, 1, 1 << 24, "Uniforms are multiples of 1/levels.")},
      [](const Levels& parameters, const std::string&, const RuleRequest&) {
        return ClosedComparisonFault(parameters.levels);
      }));
  kind.aliases = {"fault-closed-coin"};
  return kind;
}

}  // namespace speclab
