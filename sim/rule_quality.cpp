#include "sim/rule_quality.hpp"

#include <algorithm>
#include <optional>

#include "core/fast/fast_transport.hpp"
#include "sim/any_rule.hpp"
#include "sim/decode.hpp"
#include "sim/position_program.hpp"

namespace speclab {

Outcome measure_rule_quality(const Model& target, const Model& draft, const AnyRule& rule, std::int32_t gamma,
                             const RuleQualityOptions& how, const SimulationSize& simulation,
                             const Control& control) {
  const std::int32_t drafts = rule->first_drafts(gamma);
  const auto program = rule->position_program();
  const bool measures_distance =
      rule->accepts_or_replaces() || (program && program->correction() == Correction::another);
  return run_trials(
      simulation, control,
      [&](std::uint32_t trial, std::uint32_t number, std::vector<Token>& context, Tally& tally,
          RoundScratch<double>& scratch) {
        thread_local QualityScratch quality;
        bool at_start = true;
        // Tokens that a rule drops unread have rows, too, but are not examined: the last row counts if its
        // token is.
        std::optional<double> last;
        std::int32_t watched = 0;
        const auto add = [](ContextSum& sum, double value) {
          if (!(value >= 0)) throw_invalid_row();
          sum.add(value);
        };
        const auto watch = [&](std::span<const Token>, Row target_row, const Row* draft_row) {
          if (draft_row == nullptr) return;
          Row wanted = target_row;
          if (how.argmax_target) {
            quality.wanted.assign(static_cast<std::size_t>(target_row.size), 0.0);
            quality.wanted[static_cast<std::size_t>(std::max(argmax(target_row), 0))] = 1;
            wanted.probabilities = quality.wanted.data();
          }
          if (at_start)
            add(tally.quality.optimal_transport_bound, fast_transport_acceptance(wanted, *draft_row, drafts));
          at_start = false;
          if (how.lossless) {
            if (last) add(tally.quality.divergence, *last);
            last = total_variation(wanted, *draft_row);
            ++watched;
          } else if (measures_distance) {
            add(tally.quality.distance,
                total_variation(rule->emitted_distribution(target_row, *draft_row, quality), wanted));
          }
        };
        SampledRandomSource random = sampled_random_source(simulation.seed, trial, number);
        const Round round = rule->round(target, draft, gamma, context, random, scratch, RoundWatch(watch));
        if (round.next < 0) throw_invalid_row();
        if (last && (!rule->one_draft() || watched <= round.examined)) add(tally.quality.divergence, *last);
        tally.add_round(round);
      });
}

}  // namespace speclab
