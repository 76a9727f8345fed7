// Runs rounds of rules that read whole rows for many sequences at once: the program of
// tests/core/fast/whole_row_round.hpp. All sequences of a thread continue until each waits for drafted tokens
// or a total. These are then found for all of them together, and last tokens are also drawn together, so that
// all sequences wait for memory at the same time. A sequence's result depends on its trial only.
//
// sim/fast/lane_drafts.hpp defines which random numbers draft and accept. A round's last token is drawn with
// the first word of the block of its use, with the number of accepted tokens as slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "core/fast/whole_row_forms.hpp"
#include "core/random/philox.hpp"
#include "sim/control.hpp"
#include "sim/fast/context_facts.hpp"
#include "sim/fast/coupled_thresholds.hpp"
#include "sim/fast/lane_drafts.hpp"
#include "sim/fast/ngram_table.hpp"
#include "sim/fast/row_draws.hpp"
#include "sim/fast/trial_groups.hpp"
#include "sim/quality_sums.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// The sequences of one thread.
template <WholeRowRule Rule>
class WholeRowStreams {
 public:
  WholeRowStreams(const PairRows& rows, const Rule& rule, std::int32_t gamma, const ContextFacts<Rule>& facts,
                  const SimulationSize& simulation, const Control& control, std::size_t streams,
                  const GroupRun& group)
      : rows_(rows),
        simulation_(simulation),
        control_(control),
        group_(group),
        blocks_(simulation.seed),
        drafts_(rows, drafted_shape(rule, gamma), gamma, streams) {
    for (std::size_t lane = 0; lane < streams; ++lane) {
      const auto after = [this, lane](std::int32_t node) { return drafts_.context_after(lane, node); };
      lanes_.push_back(Lane{.verification = verification_of<double>(rule, facts.of_nodes(after))});
    }
  }

  void run() {
    std::uint32_t waiting = group_.first;
    for (std::size_t lane = 0; lane < lanes_.size() && waiting < group_.last; ++lane) {
      active_.push_back(lane);
      start(lane, waiting++);
    }
    while (!active_.empty()) {
      play_round();
      std::erase_if(active_, [&](std::size_t lane) {
        if (++drafts_.place(lane).round < lanes_[lane].goal || more(lane)) return false;
        if (group_.stopped || waiting == group_.last) return true;
        start(lane, waiting++);
        return false;
      });
    }
    const std::scoped_lock lock(group_.mutex);
    group_.outcome.work += blocks_.work;
  }

 private:
  struct Lane {
    std::uint32_t batch = 0;
    std::uint32_t since = 0;
    std::uint32_t goal = 0;
    Tally tally = {};
    decltype(verification_of<double>(std::declval<const Rule&>(), RowFacts<double>{})) verification;
  };
  /// True for the rule whose last token is drawn by thresholds.
  static constexpr bool coupled = std::same_as<Rule, GumbelRule>;
  /// True for rules whose acceptance rate is not computed from full rows. The tally then takes the acceptance
  /// probability of one token drafted in the context.
  static constexpr bool samples_rates = PositionForm<Rule> || coupled;

  void play_round() {
    waiting_ = active_;
    for (const std::size_t lane : active_) lanes_[lane].verification.begin(drafts_.begin(lane));
    while (!waiting_.empty()) go_on();
    drafts_.complete(active_, blocks_);
    finish();
  }

  /// Continues each waiting sequence until it waits again.
  void go_on() {
    totals_.clear();
    total_lanes_.clear();
    std::erase_if(waiting_, [this](std::size_t lane) {
      auto& verification = lanes_[lane].verification;
      const Wants wants = verification.advance([this, lane](std::int32_t node, double probability) {
        if constexpr (samples_rates) record_rate(lane, probability);
        return open_unit(drafts_.acceptance_word(lane, node)) < probability;
      });
      if (wants == Wants::nothing) return true;
      if (wants == Wants::drafts) {
        wanted_.clear();
        verification.wanted_drafts(wanted_);
        for (const std::int32_t node : wanted_) drafts_.want(lane, node);
      } else {
        const WantedTotal<double> wanted = verification.wanted_total();
        totals_.push_back({drafts_.context_after(lane, wanted.node), wanted.scale});
        total_lanes_.push_back(lane);
      }
      return false;
    });
    drafts_.draft(blocks_);
    rows_.total(totals_, blocks_);
    for (std::size_t i = 0; i < totals_.size(); ++i)
      lanes_[total_lanes_[i]].verification.answer(totals_[i].total);
  }

  /// The way in which a last token is found.
  enum Way : std::uint8_t { from_target, thinned, from_residual, named };
  struct LastTokens {
    std::vector<RowDraw> draws;
    std::vector<std::size_t> lanes;

    void clear() {
      draws.clear();
      lanes.clear();
    }
  };

  void finish() {
    for (LastTokens& some : last_) some.clear();
    excluded_.clear();
    numbers_.clear();
    for (const std::size_t lane : active_) {
      const RoundEnd<double> end = lanes_[lane].verification.end();
      RowDraw draw = drafts_.draw_at(lane, drafts_.context_after(lane, end.node),
                                     {end.use, static_cast<std::uint16_t>(end.accepted)});
      draw.scale = draw.above = end.scale;
      draw.token = end.emitted;
      if (end.coupled) {
        draw.scale = 0;
        numbers_.push_back(open_unit(drafts_.acceptance_word(lane, end.accepted)));
      }
      const bool residual =
          end.coupled || (end.scale > 0 && (end.residual_share >= 1 || coin(lane) < end.residual_share));
      const Way way = end.emitted >= 0 ? named
                      : end.thinned    ? thinned
                      : residual       ? from_residual
                                       : from_target;
      last_[way].draws.push_back(draw);
      last_[way].lanes.push_back(lane);
      if (way == from_target) excluded_.push_back(end.excluded);
      record(lane, end);
    }
    if constexpr (samples_rates) probe();
    rows_.draw(target_side, last_[from_target].draws, blocks_);
    redraw_excluded();
    if constexpr (PositionForm<Rule>) draw_thinned();
    if constexpr (coupled) find_thresholds(rows_, last_[from_residual].draws, numbers_, blocks_);
    rows_.draw_residual(last_[from_residual].draws, blocks_);
    for (RowDraw& draw : last_[named].draws) rows_.find(draw);
    for (const LastTokens& some : last_) {
      for (std::size_t i = 0; i < some.lanes.size(); ++i) {
        drafts_.place(some.lanes[i]).context = some.draws[i].next;
        rows_.prefetch(some.draws[i].next);
      }
    }
  }

  /// Returns the uniform number that chooses the component of a mixture from which the last token is drawn.
  double coin(std::size_t lane) {
    const LanePlace& place = drafts_.place(lane);
    const Draw after_drafts{Use::draft, static_cast<std::uint16_t>(drafts_.nodes())};
    return open_unit(
        philox_words(simulation_.seed, 0, use_and_slot(after_drafts), place.round, place.trial).second);
  }

  void redraw_excluded() {
    std::vector<RowDraw>& draws = last_[from_target].draws;
    const auto refused = [&](std::size_t i) { return draws[i].token == excluded_[i]; };
    redraw_refused(rows_, target_side, draws, refused, again_, blocks_);
    for (const std::size_t i : again_) {
      const Token excluded = excluded_[i];
      draw_without(rows_, target_side, std::span(&excluded, 1), draws[i], blocks_);
      if (draws[i].token != no_token) continue;
      // Only rounding can have rejected the draft's token, because no other token has positive probability.
      draws[i].token = excluded;
      rows_.find(draws[i]);
    }
  }

  /// Draws tokens of the target that are each kept with some probability.
  void draw_thinned() {
    LastTokens& last = last_[thinned];
    const auto share = [&](std::size_t i, double p, double q) {
      const auto& verification = lanes_[last.lanes[i]].verification;
      return verification.share(verification.end().node, p, q);
    };
    const auto refused = [&](std::size_t i) {
      const RowDraw& draw = last.draws[i];
      return !(open_unit(draw.word) < share(i, draw.target, draw.draft));
    };
    rows_.draw(target_side, last.draws, blocks_);
    redraw_refused(rows_, target_side, last.draws, refused, again_, blocks_);
    for (const std::size_t i : again_) {
      draw_by_pass(
          rows_, last.draws[i], [&](double p, double q) { return p * share(i, p, q); }, blocks_);
    }
  }

  /// Drafts one more token after all were accepted, only to tally the acceptance rate in the context of the
  /// bonus.
  void probe() {
    probes_.clear();
    for (const std::size_t lane : active_) {
      const RoundEnd<double> end = lanes_[lane].verification.end();
      if (end.use != Use::bonus) continue;
      probes_.lanes.push_back(lane);
      probes_.draws.push_back(drafts_.draw_at(lane, drafts_.context_after(lane, end.node),
                                              {Use::draft, static_cast<std::uint16_t>(drafts_.nodes())}));
    }
    rows_.draw(draft_side, probes_.draws, blocks_);
    for (std::size_t i = 0; i < probes_.lanes.size(); ++i) {
      const RowDraw& draw = probes_.draws[i];
      const auto& verification = lanes_[probes_.lanes[i]].verification;
      if constexpr (coupled) {
        const double ratio = draw.target / draw.draft;
        double unused;
        record_rate(probes_.lanes[i], coupled_share(ratio, rows_.total(draw.context, ratio, unused)));
      } else {
        record_rate(probes_.lanes[i],
                    verification.acceptance(verification.end().node, draw.token, draw.target, draw.draft));
      }
    }
  }

  void record_rate(std::size_t lane, double rate) { lanes_[lane].tally.add_overlap(rate); }

  void record(std::size_t lane, const RoundEnd<double>& end) {
    Round round = drafts_.drafted(lane);
    round.examined = end.examined;
    round.accepted = end.accepted;
    Tally& tally = lanes_[lane].tally;
    tally.add_round(round);
    if constexpr (samples_rates) return;
    for (std::int32_t node = end.node;; node = drafts_.tree().parent(node)) {
      tally.overlap_quanta += rows_.overlap_quanta(drafts_.context_after(lane, node));
      ++tally.overlap_contexts;
      if (node < 0) break;
    }
  }

  void start(std::size_t lane, std::uint32_t trial) {
    drafts_.place(lane) = {trial, 0, rows_.context_of(simulation_.prompt(trial))};
    set_goal(lane);
  }
  void set_goal(std::size_t lane) {
    constexpr std::uint32_t stretch = 1U << 11U;  // about a tenth of a second for all lanes
    const LanePlace& place = drafts_.place(lane);
    const TrialGoal next = next_goal(simulation_, place.trial, place.round, stretch);
    lanes_[lane].batch = next.batch;
    lanes_[lane].since = place.round;
    lanes_[lane].goal = next.goal;
  }

  /// Adds the trial's work since its last goal to the batch. Returns false when the trial is done.
  bool more(std::size_t lane) {
    Lane& here = lanes_[lane];
    const std::uint32_t round = drafts_.place(lane).round;
    control_.progress(round - here.since);
    {
      const std::scoped_lock lock(group_.mutex);
      group_.outcome.batches[here.batch] += here.tally;
    }
    here.tally = {};
    if (control_.ends(group_.stopped) || round == simulation_.length) return false;
    set_goal(lane);
    return true;
  }

  const PairRows& rows_;
  const SimulationSize& simulation_;
  const Control& control_;
  const GroupRun& group_;
  DrawBlocks blocks_;
  LaneDrafts drafts_;
  std::vector<Lane> lanes_;
  std::vector<std::size_t> active_;

  // Scratch.
  std::vector<std::size_t> waiting_;
  std::vector<std::int32_t> wanted_;
  std::vector<ContextTotal> totals_;
  std::vector<std::size_t> total_lanes_;
  std::array<LastTokens, 4> last_;
  std::vector<Token> excluded_;  ///< tokens that draws from the target must not give
  std::vector<double> numbers_;  ///< uniform numbers that rejected the drafts of coupled draws
  std::vector<std::size_t> again_;
  LastTokens probes_;
};

/// Runs all trials of `simulation`, `streams` at a time in each thread.
template <WholeRowRule Rule>
Outcome run_whole_rows(const PairRows& rows, const Rule& rule, std::int32_t gamma,
                       const ContextFacts<Rule>& facts, const SimulationSize& simulation,
                       const Control& control, std::size_t streams) {
  return run_in_groups(simulation, streams, [&](const GroupRun& group) {
    WholeRowStreams<Rule>(rows, rule, gamma, facts, simulation, control, streams, group).run();
  });
}

}  // namespace speclab
