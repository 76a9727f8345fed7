// Drafts and verifies in parallel, in lockstep: PEARL (Liu et al. 2024).
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/schedules/rounds.hpp"

namespace speclab {

/// In every step the draft generates gamma tokens during one target run; the step takes max(1, gamma c).
/// - Pre-verify, in the first step and in the step after every correction: the target runs over the known
///    text while gamma tokens are drafted, and decides the first of them. If it is rejected, its correction
///    is emitted, and the next step is pre-verify again.
/// - Post-verify, in all other steps: the target verifies those tokens of the last step that are not yet
///    decided (gamma - 1 after pre-verify, else gamma) while the next gamma are drafted after them. If all
///    are accepted, the next step is post-verify again, without a bonus token, since the draft has already
///    continued. A rejection emits the correction, drops all tokens drafted after it, and pre-verify follows.
/// With `next_row` the target's last row of a post-verify step is used, too: it decides the first of the
/// tokens drafted meanwhile, as pre-verify does. Every post-verify step then decides gamma tokens. The
/// authors' program does so (github.com/smart-lty/ParallelSpeculativeDecoding, src/engine.py: its gamma rows
/// begin after the token that is already decided, and end with that of the first new draft). With gamma c = 1
/// the result is DSI with one server (sim/schedules/dsi.hpp).
struct Pearl {
  std::uint64_t gamma;  ///< at least 1
  double c;
  bool next_row;
};

template <class Events>
Elapsed run_schedule(const Pearl& schedule, const Acceptances& text, Events& events) {
  const double step = std::max(1.0, static_cast<double>(schedule.gamma) * schedule.c);
  std::uint64_t emitted = 0;
  std::uint64_t steps = 0;
  const auto report = [&](std::uint64_t looked_at, std::uint64_t accepted) {
    if constexpr (Events::wanted) {
      const double start = static_cast<double>(steps) * step;
      for (std::uint64_t i = 0; i < schedule.gamma; ++i) {
        const double at = start + schedule.c * static_cast<double>(i);
        const EventKind kind = accepted < looked_at ? EventKind::dropped_run : EventKind::draft_run;
        // The dropped tokens include the first one if pre-verify rejected it.
        events.add({at, at + schedule.c, {TrackKind::draft}, kind, 1});
      }
      target_run(events, start, looked_at, accepted);
    }
    ++steps;
  };
  while (emitted < text.tokens) {
    const std::uint64_t first = text.leading(emitted, 1);
    report(1, first);
    emitted += first;
    bool all_accepted = first == 1;
    std::uint64_t unsettled = schedule.next_row ? schedule.gamma : schedule.gamma - 1;
    while (all_accepted) {
      const std::uint64_t accepted = text.leading(emitted, unsettled);
      report(unsettled, accepted);
      emitted += accepted;
      all_accepted = accepted == unsettled;
      unsettled = schedule.gamma;
    }
    emitted += 1;
  }
  return {emitted, step * static_cast<double>(steps), static_cast<double>(emitted)};
}

}  // namespace speclab
