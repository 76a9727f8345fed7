// Runs rounds of fast decoding by a simple implementation.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/random/block_random_source.hpp"
#include "sim/decode.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/fast/row_draws.hpp"
#include "sim/models/table_model.hpp"
#include "tests/core/fast/whole_row_round.hpp"

namespace speclab {

/// Runs one round per trial by whole_row_round; a tally then holds everything but the last token.
template <class Rule>
Outcome single_rounds(const TableModel& target, const TableModel& draft, const Rule& rule, std::int32_t gamma,
                      const SimulationSize& simulation) {
  return run_trials(
      simulation, Control{},
      [&](std::uint32_t trial, std::uint32_t number, std::vector<Token>& context, Tally& tally,
          RoundScratch<double>&) {
        BlockRandomSource random(simulation.seed, trial, number);
        std::vector<double> unused;
        const std::size_t start = context.size();
        tally.add_round(whole_row_round<double>(target, draft, rule, gamma, max_redraws, context, random));
        const std::span<const Token> all(context);
        for (std::size_t at = start; at < context.size(); ++at) {
          tally.add_overlap(overlap(target.next(all.first(at), unused), draft.next(all.first(at), unused)));
        }
      });
}

/// Checks that at each gamma the rounds of a pair, one a trial, are those of the program's statement.
/// `rates`: so are their acceptance rates; rules that couple, or decide by position, have those of drafted
/// tokens instead.
template <class Rule>
void check_single_rounds(const FastPair& pair, const TableModel& target, const TableModel& draft,
                         const Rule& rule, std::initializer_list<std::int32_t> gammas,
                         const SimulationSize& simulation, bool rates) {
  for (const std::int32_t gamma : gammas) {
    std::vector<Tally> found = pair.decode(gamma, simulation).batches;
    std::vector<Tally> expected = single_rounds(target, draft, rule, gamma, simulation).batches;
    for (auto* batches : {&found, &expected}) {
      for (Tally& batch : *batches) batch.overlap_quanta = rates ? batch.overlap_quanta : 0;
    }
    CHECK(found == expected);
  }
}

}  // namespace speclab
