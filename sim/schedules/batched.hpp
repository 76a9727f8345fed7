// Decodes many sequences in lockstep: all run the same rounds but accept different numbers of tokens. The
// variants differ in what happens after a sequence is finished.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/schedules/rounds.hpp"

namespace speclab {

/// Time of a run over the tokens of all sequences: 1 while reading the weights takes longer than the
/// arithmetic, then proportional to the tokens.
struct SaturatingCost {
  double saturation;  ///< number of tokens at which a run becomes compute-bound

  double operator()(double tokens) const { return std::max(1.0, tokens / saturation); }
};

/// Decodes `sequences` at a time, each until it has `goal` tokens; further tokens of its last round are
/// dropped. In a round every active sequence drafts gamma tokens (gamma draft runs of c * cost(active)), and
/// one target run of cost(active * (gamma + 1)) verifies all of them.
/// - replaced: the next sequence immediately replaces a finished one, so that the batch is always full
///    (continuous batching); the run ends when no sequence is left to start, and counts the tokens emitted
///    until then.
/// - else: the next batch starts when all sequences of the batch are finished (static batching).
/// Sequence i is positions [i * goal, (i + 1) * goal); only complete sequences (or batches) within `tokens`
/// are decoded. Decoding without speculation has the same batches: cost(sequences) for one token of each.
template <class Cost>
struct BatchedOver {
  std::uint64_t sequences;
  std::uint64_t gamma;
  double c;
  std::uint64_t goal;
  bool replaced;
  Cost cost;
};

using Batched = BatchedOver<SaturatingCost>;

template <class Cost, class Events>
Elapsed run_schedule(const BatchedOver<Cost>& schedule, const Acceptances& text, Events& events) {
  struct Place {
    std::uint64_t first;  ///< position of its sequence's first token
    std::uint64_t emitted;
  };
  const std::uint64_t batch = schedule.sequences * schedule.goal;
  const std::uint64_t end =
      schedule.replaced ? text.tokens - text.tokens % schedule.goal : text.tokens - text.tokens % batch;
  const auto gamma = static_cast<double>(schedule.gamma);
  std::vector<Place> active;
  std::uint64_t next = 0;
  Elapsed elapsed;
  while (true) {
    if (schedule.replaced || active.empty()) {
      while (active.size() < schedule.sequences && next < end) {
        active.push_back({next, 0});
        next += schedule.goal;
      }
    }
    if (active.empty() || (schedule.replaced && active.size() < schedule.sequences)) break;
    const auto count = static_cast<double>(active.size());
    std::uint64_t accepted_in_batch = 0;
    for (Place& cursor : active) {
      const std::uint64_t accepted = text.leading(cursor.first + cursor.emitted, schedule.gamma);
      const std::uint64_t emitted = std::min(accepted + 1, schedule.goal - cursor.emitted);
      cursor.emitted += emitted;
      elapsed.tokens += emitted;
      accepted_in_batch += accepted;
    }
    const double draft_run = schedule.c * schedule.cost(count);
    const double verification = schedule.cost(count * (gamma + 1));
    if constexpr (Events::wanted) {
      const auto drafts = static_cast<std::int64_t>(active.size());
      for (std::uint64_t i = 0; i < schedule.gamma; ++i) {
        const double at = elapsed.time + draft_run * static_cast<double>(i);
        events.add({at, at + draft_run, {TrackKind::draft}, EventKind::draft_run, drafts});
      }
      const double at = elapsed.time + draft_run * gamma;
      events.add({at,
                  at + verification,
                  {TrackKind::target},
                  EventKind::target_run,
                  drafts * static_cast<std::int64_t>(schedule.gamma),
                  static_cast<std::int64_t>(accepted_in_batch)});
    }
    elapsed.time += draft_run * gamma + verification;
    std::erase_if(active, [&](const Place& cursor) { return cursor.emitted == schedule.goal; });
  }
  const auto width = static_cast<double>(schedule.sequences);
  elapsed.plain_time = static_cast<double>(elapsed.tokens) * schedule.cost(width) / width;
  return elapsed;
}

}  // namespace speclab
