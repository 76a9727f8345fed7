// Another project's program: compares Eq. 1 with a simulation, and computes target steps per token of a
// server.
#include <cstdio>
#include <speclab/analysis/theory/theorems.hpp>
#include <speclab/core/rules/token.hpp>
#include <speclab/serving/server/acceptance_law.hpp>
#include <speclab/sim/compiled_rule.hpp>
#include <speclab/sim/decode.hpp>
#include <speclab/sim/models/model.hpp>
#include <speclab/sim/models/synthetic.hpp>

int main() {
  const speclab::TableModel target(100, 0, speclab::zipf_row(100, 1, false));
  const speclab::TableModel other(100, 0, speclab::zipf_row(100, 1, true));
  const speclab::Model draft(speclab::mixed_to_alpha(target, other, 0.8));
  const auto outcome = speclab::decode_speculatively(speclab::Model(target), draft, speclab::TokenRule{}, 5,
                                                     speclab::SimulationSize{});
  const speclab::Tally tally = outcome.total();
  std::printf("formula %.4f\nsimulated %.4f\n", speclab::expected_tokens(0.8, 5),
              static_cast<double>(tally.emitted) / static_cast<double>(tally.rounds));
  std::printf("steps a token %.4f\n", 1 / (1 + speclab::mean_accepted(speclab::iid_law(0.8), 5)));
}
