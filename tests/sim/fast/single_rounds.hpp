// Runs rounds of fast decoding by the plain version of their program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/fast/whole_row_round.hpp"
#include "core/random/block_random_source.hpp"
#include "sim/decode.hpp"
#include "sim/fast/row_draws.hpp"
#include "sim/models/table_model.hpp"

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

}  // namespace speclab
