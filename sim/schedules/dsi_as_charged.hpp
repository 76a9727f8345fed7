// Distributed speculative inference as its authors' offline simulation charges it
// (keyboardAnt/distributed-speculative-inference, dsi/offline/simul/dsi.py, commit 2024206): a sum of costs,
// while sim/schedules/dsi.hpp has a clock. Two things differ. Up to each correction, it also charges all
// drafts of the group of `lookahead` that contains the rejected one, although the run that rejects it starts
// before these exist. And it takes the cheaper of this charge and decoding without speculation, which cannot
// be known beforehand.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/acceptance_stream.hpp"
#include "sim/schedules/events.hpp"
#include "sim/schedules/rounds.hpp"

namespace speclab {

/// The charge from one correction to the next, with n accepted drafts: one target run, and c for each of the
/// drafts up to the first multiple of `lookahead` beyond n, unless n = 0; at most the n + 1 target runs
/// without speculation. Two boundary effects of their program are left out: it charges the drafts of n = 0
/// before the first correction, and cuts the last span at its number of tokens. 0 < c <= 1, lookahead >= 1.
struct DsiAsCharged {
  std::uint64_t lookahead;
  double c;
};

template <class Events>
Elapsed run_schedule(const DsiAsCharged& schedule, const Acceptances& text, Events& events) {
  std::uint64_t emitted = 0;
  double now = 0;
  while (emitted < text.tokens) {
    const std::uint64_t accepted = text.leading(emitted, text.bits.size());
    const std::uint64_t drafted =
        accepted == 0 ? 0 : (accepted / schedule.lookahead + 1) * schedule.lookahead;
    const auto tokens = static_cast<double>(accepted + 1);
    const double drafting = std::min(schedule.c * static_cast<double>(drafted), tokens - 1);
    if constexpr (Events::wanted) {
      events.add({now,
                  now + drafting,
                  {TrackKind::draft},
                  EventKind::draft_run,
                  static_cast<std::int64_t>(drafted)});
    }
    target_run(events, now + drafting, drafted, accepted);
    now += drafting + 1;
    emitted += accepted + 1;
  }
  return {emitted, now, static_cast<double>(emitted)};
}

}  // namespace speclab
