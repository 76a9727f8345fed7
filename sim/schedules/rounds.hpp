// Schedules of rounds: first the drafts, then one target run, never both at once. Each round starts anew, so
// that rounds over independent acceptances are independent. A sequence ends at the end of a round, so that
// tokens per time is unbiased (Wald).
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/acceptance_stream.hpp"
#include "sim/schedules/events.hpp"

namespace speclab {

/// Emits one token per target run.
struct Plain {};

/// Drafts gamma tokens of c each, then makes a target run over them (Leviathan et al. 2023, Thm 3.8).
struct Speculative {
  std::uint64_t gamma;
  double c;
};

/// An upper bound for schedules of rounds: drafts exactly the tokens that will be accepted, up to `most`, and
/// none if a draft run takes longer than a target run. c = 0: drafting takes no time.
struct UpperBound {
  std::uint64_t most;
  double c;
};

/// gamma heads of the target itself draft all tokens at once, for c per round (Leviathan et al. 2023, section
/// 6, on non-autoregressive drafts). Real heads are accepted less often than a model that sees the preceding
/// tokens; the comparison is at equal acceptance.
struct Heads {
  std::uint64_t gamma;
  double c;
};

/// Reports a run over `drafted` tokens, the last run of a round.
template <class Events>
void target_run(Events& events, double start, std::uint64_t drafted, std::uint64_t accepted) {
  if constexpr (Events::wanted) {
    events.add({start,
                start + 1,
                {TrackKind::target},
                EventKind::target_run,
                static_cast<std::int64_t>(drafted),
                static_cast<std::int64_t>(accepted)});
  }
}

/// Runs rounds of `drafted(position)` tokens in `runs(drafted)` draft runs of c.
template <class Drafted, class Runs, class Events>
Elapsed run_rounds(const Acceptances& text, double c, const Drafted& drafted, const Runs& runs,
                   Events& events) {
  std::uint64_t emitted = 0;
  std::uint64_t rounds = 0;
  std::uint64_t draft_runs = 0;
  while (emitted < text.tokens) {
    const std::uint64_t count = drafted(emitted);
    const std::uint64_t accepted = text.leading(emitted, count);
    if constexpr (Events::wanted) {
      const double start = static_cast<double>(rounds) + c * static_cast<double>(draft_runs);
      const auto each = static_cast<std::int64_t>(count / std::max<std::uint64_t>(runs(count), 1));
      for (std::uint64_t i = 0; i < runs(count); ++i) {
        const double at = start + c * static_cast<double>(i);
        events.add({at, at + c, {TrackKind::draft}, EventKind::draft_run, each});
      }
      target_run(events, start + c * static_cast<double>(runs(count)), count, accepted);
    }
    emitted += accepted + 1;
    rounds += 1;
    draft_runs += runs(count);
  }
  return {emitted, static_cast<double>(rounds) + c * static_cast<double>(draft_runs),
          static_cast<double>(emitted)};
}

template <class Events>
Elapsed run_schedule(const Plain&, const Acceptances& text, Events& events) {
  const auto none = [](std::uint64_t) { return std::uint64_t{0}; };
  return run_rounds(text, 0, none, none, events);
}

template <class Events>
Elapsed run_schedule(const Speculative& schedule, const Acceptances& text, Events& events) {
  return run_rounds(
      text, schedule.c, [&](std::uint64_t) { return schedule.gamma; }, [](std::uint64_t n) { return n; },
      events);
}

template <class Events>
Elapsed run_schedule(const UpperBound& schedule, const Acceptances& text, Events& events) {
  return run_rounds(
      text, schedule.c,
      [&](std::uint64_t at) { return schedule.c < 1 ? text.leading(at, schedule.most) : 0; },
      [](std::uint64_t n) { return n; }, events);
}

template <class Events>
Elapsed run_schedule(const Heads& schedule, const Acceptances& text, Events& events) {
  return run_rounds(
      text, schedule.c, [&](std::uint64_t) { return schedule.gamma; },
      [](std::uint64_t) { return std::uint64_t{1}; }, events);
}

}  // namespace speclab
