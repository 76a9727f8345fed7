// Drafts for likely outcomes of a round while the target verifies it: SSD (Kumar, Dao and May 2026,
// arXiv:2603.03251; its system is called Saguaro).
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/acceptance_stream.hpp"
#include "sim/schedules/events.hpp"
#include "sim/schedules/rounds.hpp"

namespace speclab {

/// The draft runs on its own device. While the target verifies, the draft prepares the next round for the
/// likeliest outcomes: how many tokens are accepted, and which token follows them. With independent
/// probability `hit` the outcome is among these, and the next target run starts when both devices are free.
/// Otherwise the prepared tokens are dropped, and the round is drafted after the verification; with
/// `plain_after_miss` the target instead runs without drafts while the draft prepares the next round. The
/// first round is treated alike, because the prompt was a target run, too.
struct Asynchronous {
  std::uint64_t gamma;
  double c;    ///< time of a draft run over all prepared outcomes
  double hit;  ///< probability that the outcome was prepared
  bool plain_after_miss;
};

template <class Events>
Elapsed run_schedule(const Asynchronous& schedule, const Acceptances& text, Events& events) {
  // Lower slots belong to acceptances of the levels of a hierarchy.
  constexpr auto hit_slot = static_cast<std::uint16_t>(pair_stream_slot - 1);
  BernoulliStream hits(text.seed, text.trial, hit_slot, schedule.hit);
  const double drafting = static_cast<double>(schedule.gamma) * schedule.c;
  std::uint64_t emitted = 0;
  double now = 0;  ///< time at which the target is free
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
