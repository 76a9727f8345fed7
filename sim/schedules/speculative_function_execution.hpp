// Runs two slow functions in parallel, although the second takes a sample from the first: an application of
// speculative sampling beyond decoding (Leviathan et al. 2023, section 6; for example f a policy and g a
// world).
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/acceptance_stream.hpp"
#include "sim/schedules/events.hpp"

namespace speclab {

/// A call computes f, which gives the distribution of g's input, then g. A cheap approximation of f draws the
/// input in advance, and g starts on it while f computes. When f is done, the input is accepted or replaced;
/// if replaced, g runs again. Calls run one after the other; a position of the sequence is a call.
struct SpeculativeFunctionExecution {
  double f;
  double g;
  double q;         ///< time of the approximation
  bool interrupts;  ///< true: a useless g is stopped when f is done; false: g stays busy until it ends
};

template <class Events>
Elapsed run_schedule(const SpeculativeFunctionExecution& schedule, const Acceptances& text, Events& events) {
  double now = 0;
  for (std::uint64_t call = 0; call < text.tokens; ++call) {
    const double f_end = now + schedule.f;
    const double g_start = now + schedule.q;
    const double g_end = g_start + schedule.g;
    const bool accepted = text.leading(call, 1) == 1;
    double end = std::max(f_end, g_end);
    double stopped = g_end;
    double again = end;
    if (!accepted) {
      if (schedule.interrupts) {
        stopped = std::clamp(f_end, g_start, g_end);
        again = std::max(f_end, g_start);
      }
      end = again + schedule.g;
    }
    if constexpr (Events::wanted) {
      events.add({now, f_end, {TrackKind::function_f}, EventKind::function_f});
      events.add({now, g_start, {TrackKind::draft_of_f}, EventKind::draft_of_f});
      events.add({g_start,
                  stopped,
                  {TrackKind::function_g},
                  accepted ? EventKind::function_g : EventKind::dropped_run});
      if (!accepted) events.add({again, end, {TrackKind::function_g}, EventKind::function_g});
    }
    now = end;
  }
  return {text.tokens, now, static_cast<double>(text.tokens) * (schedule.f + schedule.g)};
}

}  // namespace speclab
