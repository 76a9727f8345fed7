#include "experiments/run/gpu_decoding.hpp"

#include <cassert>
#include <span>

#include "kernels/simulate/simulate.hpp"
#include "sim/fast/iid_decode.hpp"
#include "sim/fast/length_tally.hpp"

namespace speclab {

namespace {

RunShape shape_of(std::int32_t gamma, const SimulationSize& simulation) {
  return {.seed = simulation.seed,
          .trials = simulation.trials,
          .length = simulation.length,
          .batches = simulation.batches,
          .gamma = gamma};
}

template <class Run>
RoundCounts simulate(Backend backend, const Run& run, const Control& control) {
  const auto watch = [&control](std::uint64_t rounds) {
    control.progress(rounds);
    return !control.stop();
  };
  return backend == Backend::emulated ? simulate_emulated(run, watch) : simulate_on_gpu(run, watch);
}

/// Converts counts of rounds to an outcome; tally(batch, lengths) makes the tally of each batch.
template <class MakeTally>
Outcome outcome_of(const RoundCounts& counts, const MakeTally& tally) {
  const auto width = static_cast<std::size_t>(counts.gamma) + 1;
  Outcome outcome;
  outcome.partial = counts.partial;
  outcome.work.blocks = counts.blocks;
  for (std::size_t batch = 0; batch * width < counts.lengths.size(); ++batch) {
    const std::span lengths(&counts.lengths[batch * width], width);
    outcome.batches.push_back(tally(batch, lengths));
  }
  return outcome;
}

/// Returns the run that equals FastPair::decode for stored tables; the tables must outlive it.
TableRun table_run(const FastPair& pair, std::int32_t gamma, const SimulationSize& simulation) {
  const PreparedPair* const table = pair.stored();
  assert(table != nullptr);
  TableRun run{shape_of(gamma, simulation), table->view(), pair.stored_rule(), {}};
  run.shape.batch_unit = simulation.cut().unit;
  for (const auto& prompt : simulation.prompts) run.starts.push_back(table->context_of(prompt));
  return run;
}

}  // namespace

Outcome decode_iid_on(Backend backend, double alpha, std::int32_t gamma, const SimulationSize& simulation,
                      const Control& control) {
  if (backend == Backend::cpu) return decode_iid(alpha, gamma, simulation, control);
  return outcome_of(simulate(backend, IidRun{shape_of(gamma, simulation), alpha}, control),
                    [alpha](std::size_t, auto lengths) { return iid_tally(lengths, alpha); });
}

Outcome decode_pair_on(Backend backend, const FastPair& pair, std::int32_t gamma,
                       const SimulationSize& simulation, const Control& control) {
  if (backend == Backend::cpu) return pair.decode(gamma, simulation, control);
  const RoundCounts counts = simulate(backend, table_run(pair, gamma, simulation), control);
  Outcome outcome = outcome_of(counts, [&counts](std::size_t batch, auto lengths) {
    return length_tally(lengths, counts.overlap[batch]);
  });
  outcome.work.reads = counts.blocks;
  return outcome;
}

}  // namespace speclab
