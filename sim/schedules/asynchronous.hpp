// Drafts for likely outcomes of a round while the target verifies it: SSD (Kumar, Dao and May 2026,
// arXiv:2603.03251; its system is called Saguaro).
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/acceptance_stream.hpp"
#include "sim/schedules/events.hpp"
#include "sim/schedules/rounds.hpp"

namespace speclab {

/// The draft has a device of its own. While the target verifies, it drafts the next round for the likeliest
/// outcomes: how many tokens are accepted, and which token follows them. With probability `hit` the outcome
/// is among these, independently of all else, and the next target run starts when both devices are done.
/// Otherwise what was drafted is dropped, and the round is drafted after the verification, or with
/// `plain_after_miss` the target runs without drafts, while the draft goes on for the round after. The first
/// round is the same: the prompt was a target run, too.
struct Asynchronous {
  std::uint64_t gamma;
  double c;    ///< of a draft run over all outcomes that are prepared
  double hit;  ///< probability
  bool plain_after_miss;
};

template <class Events>
Elapsed run_schedule(const Asynchronous& schedule, const Acceptances& text, Events& events) {
  // Acceptances of levels of a hierarchy come before.
  constexpr auto hit_slot = static_cast<std::uint16_t>(pair_stream_slot - 1);
  BernoulliStream hits(text.seed, text.trial, hit_slot, schedule.hit);
  const double drafting = static_cast<double>(schedule.gamma) * schedule.c;
  std::uint64_t emitted = 0;
  double now = 0;  ///< the target is free
  const auto draft_runs = [&](double from, double until, EventKind kind) {
    if constexpr (Events::wanted) {
      for (std::uint64_t i = 0; i < schedule.gamma; ++i) {
        const double start = std::max(0.0, from + schedule.c * static_cast<double>(i));
        const double end = std::min(until, from + schedule.c * static_cast<double>(i + 1));
        if (start < end) events.add({start, end, {TrackKind::draft}, kind, 1});
      }
    }
  };
  while (emitted < text.tokens) {
    const bool hit = hits.bernoulli();
    // Drafting began with the target run that ends now.
    draft_runs(now - 1, hit ? now - 1 + drafting : now, hit ? EventKind::draft_run : EventKind::dropped_run);
    std::uint64_t drafted = schedule.gamma;
    if (hit) {
      now = std::max(now, now - 1 + drafting);
    } else if (schedule.plain_after_miss) {
      drafted = 0;
    } else {
      draft_runs(now, now + drafting, EventKind::draft_run);
      now += drafting;
    }
    const std::uint64_t accepted = text.leading(emitted, drafted);
    target_run(events, now, drafted, accepted);
    now += 1;
    emitted += accepted + 1;
  }
  return {emitted, now, static_cast<double>(emitted)};
}

}  // namespace speclab
