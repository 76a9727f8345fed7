// A draft that is itself decoded speculatively, by a smaller draft, and so on (Leviathan et al. 2023, section
// 6, "a hierarchical version of the algorithm").
#pragma once

#include <cstdint>
#include <vector>

#include "sim/schedules/rounds.hpp"

namespace speclab {

/// One draft model. `alpha` is the acceptance rate of its tokens by the model above it. The model above the
/// first level is the target, and the sequence's bits replace alpha.
struct DraftLevel {
  std::uint64_t gamma;  ///< minimum of tokens that it drafts before the model above verifies them
  double c;             ///< time of one run, in target runs
  double alpha;
};

/// A hierarchy of drafts. The last level drafts exactly its gamma tokens, one per run. Any other level runs
/// its own rounds (the level below drafts, then one run of this level verifies) until it has at least gamma
/// tokens; tokens beyond gamma are kept and verified with the others. No token is kept after the level above
/// has verified. Acceptances below the first level are independent draws, each used once, and not bits by
/// position: a draft's text differs from the output after its first rejection.
struct Hierarchical {
  std::vector<DraftLevel> levels;
};

/// Drafts one sequence on its clock.
template <class Events>
class HierarchicalDrafts {
 public:
  HierarchicalDrafts(const Hierarchical& schedule, const Acceptances& text, Events& events)
      : levels_(schedule.levels), events_(events) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      const auto slot = static_cast<std::uint16_t>(iid_stream_slot + 1 + level);
      bernoulli_streams_.emplace_back(text.seed, text.trial, slot, levels_[level].alpha);
    }
  }

  /// Advances `now` by the drafting of a level; returns how many tokens it drafted.
  std::uint64_t draft(std::size_t level, double& now) {
    const DraftLevel& here = levels_[level];
    if (level + 1 == levels_.size()) {
      for (std::uint64_t i = 0; i < here.gamma; ++i) run(level, now, 1, -1);
      return here.gamma;
    }
    std::uint64_t drafted = 0;
    while (drafted < here.gamma) {
      const std::uint64_t proposed = draft(level + 1, now);
      std::uint64_t accepted = 0;
      while (accepted < proposed && bernoulli_streams_[level + 1].bernoulli()) ++accepted;
      run(level, now, static_cast<std::int64_t>(proposed), static_cast<std::int64_t>(accepted));
      drafted += accepted + 1;
    }
    return drafted;
  }

 private:
  void run(std::size_t level, double& now, std::int64_t tokens, std::int64_t accepted) {
    const double start = now;
    now += levels_[level].c;
    if constexpr (Events::wanted) {
      events_.add(
          {start, now, {TrackKind::draft, static_cast<int>(level)}, EventKind::draft_run, tokens, accepted});
    }
  }

  const std::vector<DraftLevel>& levels_;
  Events& events_;
  std::vector<BernoulliStream> bernoulli_streams_;
};

template <class Events>
Elapsed run_schedule(const Hierarchical& schedule, const Acceptances& text, Events& events) {
  HierarchicalDrafts<Events> drafts(schedule, text, events);
  std::uint64_t emitted = 0;
  double now = 0;
  while (emitted < text.tokens) {
    const std::uint64_t drafted = drafts.draft(0, now);
    const std::uint64_t accepted = text.leading(emitted, drafted);
    target_run(events, now, drafted, accepted);
    now += 1;
    emitted += accepted + 1;
  }
  return {emitted, now, static_cast<double>(emitted)};
}

}  // namespace speclab
