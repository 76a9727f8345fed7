// Another project's rule: the example of docs/extending.md, which run.sh copies into timid_rule.inc, is
// simulated and proved. A copy with a fault is refuted.
#include <cstdio>
#include <speclab/analysis/exact/enumeration_program.hpp>
#include <speclab/analysis/exact/losslessness.hpp>
#include <speclab/analysis/exact/rational.hpp>
#include <speclab/core/distribution/number.hpp>
#include <speclab/core/rules/by_position.hpp>
#include <speclab/sim/compiled_rule.hpp>
#include <speclab/sim/decode.hpp>
#include <speclab/sim/models/model.hpp>
#include <speclab/sim/models/synthetic.hpp>
#include <string>
#include <vector>

using namespace speclab;

#include "timid_rule.inc"

/// Samples the target after a rejection.
struct FaultyRule : ByPosition<FaultyRule> {
  static constexpr Correction correction = Correction::target;
  template <class Real>
  Real acceptance_probability(const Real& p, const Real& q) const {
    return TimidRule{}.acceptance_probability(p, q);
  }
};

/// Returns the distance of a round's output to the target. Half of the overlap of p and q is accepted, 3/10,
/// so the faulty copy emits min(p, q)/2 + 7/10 p = (4, 3.6, 2.4)/10, which is 1/10 from p.
template <class Rule>
std::string distance(const Rule& rule) {
  using Rows = std::vector<std::vector<Rational>>;
  const ExactTable<Rational> target(Rows{{{1, 2}, {3, 10}, {1, 5}}});
  const ExactTable<Rational> draft(Rows{{{1, 10}, {3, 10}, {3, 5}}});
  return examine<Rational>(target, draft, rule, 1, {}).distance.str();
}

int main() {
  const Model target(TableModel(100, 0, zipf_row(100, 1, false)));
  const Model draft(TableModel(100, 0, zipf_row(100, 1, true)));
  const Tally tally = decode_speculatively(target, draft, TimidRule{}, 5, SimulationSize{}).total();
  std::printf("emitted more than rounds: %s\n", tally.emitted > tally.rounds ? "yes" : "no");
  std::printf("distance %s, of the faulty copy %s\n", distance(TimidRule{}).c_str(),
              distance(FaultyRule{}).c_str());
}
