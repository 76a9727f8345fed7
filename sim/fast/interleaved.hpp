// Interleaves many sequences in one thread, so that the cache misses and slow instructions of one overlap
// with the work of others, and random numbers are computed in vectors. A sequence's result depends only on
// its trial, not on the other sequences.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "core/fast/round_states.hpp"
#include "sim/control.hpp"
#include "sim/fast/length_tally.hpp"
#include "sim/fast/philox_blocks.hpp"
#include "sim/fast/trial_groups.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// Number of sequences that one thread interleaves.
inline constexpr std::size_t default_streams = 32;
inline constexpr std::size_t max_streams = 64;
static_assert(default_streams % philox_batch == 0 && max_streams % philox_batch == 0);

/// One step of one sequence: the state of its round, and the random word of its acceptance draw. The word
/// that selects a token is passed to the prefetches.
struct Step {
  const RoundState& state;
  std::uint64_t acceptance_word;
  std::uint32_t attempt;  ///< Philox blocks that this draw has already used
  std::uint32_t round;
  std::uint32_t trial;
};

enum class StepOutcome : std::uint8_t {
  not_emitted = 0,  ///< continue with the state `no`
  emitted = 1,      ///< continue with the state `yes`
  again = 2         ///< repeat the state: the block gave no token
};

/// The sequences of one thread. `Steps` is the pair of models, shared by all threads:
///     Cursor                        a sequence's position in its text, with `overlap`, the sum of acceptance
///                                   rates (units of Tally::quantum) over contexts since it was last set to 0
///     start(prompt) -> Cursor
///     prefetches                    number of prefetches in a step
///     prefetch<i>(cursor, state, selector)
///                                   the i-th prefetch: asks the cache for the data that the step reads
///     step(cursor, step, work)      one step; counts the reads of its prefetches, and passes
///     probes                        whether rounds probe the context of the bonus
///     repeats                       whether a state may take several blocks; else attempts are always 0
template <class Steps>
class InterleavedStreams {
 public:
  InterleavedStreams(const Steps& steps, const RoundStates& rounds, const SimulationSize& simulation,
                     const Control& control, std::size_t streams, const GroupRun& group)
      : steps_(steps),
        states_(rounds.states.data()),
        start_(rounds.start),
        gamma_(rounds.gamma),
        simulation_(simulation),
        control_(control),
        streams_(streams),
        width_((streams + philox_batch - 1) / philox_batch * philox_batch),
        group_(group),
        cursors_(streams),
        lengths_(streams * (gamma_ + 1)) {
    assert(1 <= streams && streams <= max_streams);
  }

  void run() {
    std::uint32_t waiting = group_.first;
    while (active_ < streams_ && waiting < group_.last) admit(waiting++);
    while (active_ > 0) {
      take_turns();
      for (; leaving_ > 0; --leaving_) {
        const std::size_t stream = leavers_[leaving_ - 1];
        if (!more(stream)) retire(stream);
      }
      while (active_ < streams_ && waiting < group_.last && !group_.stopped) admit(waiting++);
    }
    const std::scoped_lock lock(group_.mutex);
    group_.outcome.work += work_;
  }

 private:
  std::uint32_t& attempt(std::size_t stream) { return counters_[stream]; }
  std::uint32_t& site(std::size_t stream) { return counters_[width_ + stream]; }
  std::uint32_t& round(std::size_t stream) { return counters_[2 * width_ + stream]; }
  std::uint32_t& trial(std::size_t stream) { return counters_[3 * width_ + stream]; }

  /// Runs one step of every stream. Each outcome depends on a random draw, so the code does not branch on it:
  /// a mispredicted branch costs as much as the rest of a step.
  void take_turns() {
    alignas(64) std::array<std::uint32_t, 4 * max_streams> words;
    philox_blocks(simulation_.seed, counters_.data(), words.data(), width_);
    // Local copies let the compiler know that stores to the streams do not change them.
    const Steps steps = steps_;
    const RoundState* const states = states_;
    const std::size_t width = width_;
    const std::size_t active = active_;
    const std::size_t stride = gamma_ + 1;
    typename Steps::Cursor* const cursors = cursors_.data();
    std::uint64_t* const lengths = lengths_.data();
    FastWork work;

    const auto selector = [&](std::size_t stream) { return joined(words[stream], words[width + stream]); };
    const auto prefetch = [&]<int Prefetch>(std::integral_constant<int, Prefetch>) {
      for (std::size_t stream = 0; stream < active; ++stream)
        steps.template prefetch<Prefetch>(cursors[stream], states[at_[stream]], selector(stream));
    };
    [&]<int... Prefetch>(std::integer_sequence<int, Prefetch...>) {
      (prefetch(std::integral_constant<int, Prefetch>{}), ...);
    }
    (std::make_integer_sequence<int, Steps::prefetches>{});
    for (std::size_t stream = 0; stream < active; ++stream) {
      const std::uint16_t at = at_[stream];
      const RoundState& state = states[at];
      const std::uint64_t acceptance_word = joined(words[2 * width + stream], words[3 * width + stream]);
      const std::uint32_t attempt = counters_[stream];
      const std::uint32_t round = counters_[2 * width + stream];
      const StepOutcome outcome = steps.step(
          cursors[stream], Step{state, acceptance_word, attempt, round, counters_[3 * width + stream]}, work);
      std::uint32_t emitted;
      std::uint32_t next;
      if constexpr (Steps::repeats) {
        emitted = outcome == StepOutcome::emitted;
        const std::uint32_t again = outcome == StepOutcome::again;
        next = select(emitted, state.yes, select(again, at, state.no));
        const std::uint32_t stays = (1U - emitted) & static_cast<std::uint32_t>(next == at);
        counters_[stream] = select(stays, attempt + 1, 0U);
      } else {
        emitted = static_cast<std::uint32_t>(outcome);
        next = select(emitted, state.yes, state.no);
      }
      const std::uint32_t ended = emitted & state.ends;
      counters_[width + stream] = states[next].site;
      counters_[2 * width + stream] = round + ended;
      at_[stream] = static_cast<std::uint16_t>(next);
      lengths[stream * stride + state.accepted] += ended;
      if ((ended & static_cast<std::uint32_t>(round + ended == goals_[stream])) != 0) [[unlikely]]
        leavers_[leaving_++] = static_cast<std::uint16_t>(stream);
    }
    work.blocks = active;
    work_ += work;
  }

  void admit(std::uint32_t trial_number) {
    const std::size_t stream = active_++;
    attempt(stream) = 0;
    at_[stream] = start_;
    site(stream) = states_[start_].site;
    round(stream) = 0;
    trial(stream) = trial_number;
    cursors_[stream] = steps_.start(simulation_.prompt(trial_number));
    set_goal(stream);
  }

  void set_goal(std::size_t stream) {
    constexpr std::uint32_t stretch = 1U << 14U;
    const TrialGoal next = next_goal(simulation_, trial(stream), round(stream), stretch);
    batches_[stream] = next.batch;
    since_[stream] = round(stream);
    goals_[stream] = next.goal;
  }

  /// Adds the stream's work since its last goal (TrialGoal) to the batch. Returns false when the stream is
  /// done.
  bool more(std::size_t stream) {
    control_.progress(round(stream) - since_[stream]);
    std::uint64_t* const lengths = &lengths_[stream * (gamma_ + 1)];
    const Tally tally = length_tally({lengths, gamma_ + 1}, std::exchange(cursors_[stream].overlap, 0));
    std::fill_n(lengths, gamma_ + 1, 0);
    {
      const std::scoped_lock lock(group_.mutex);
      group_.outcome.batches[batches_[stream]] += tally;
    }
    // The control is also asked at the end of each trial, because trials can be many and short.
    if (control_.ends(group_.stopped) || round(stream) == simulation_.length) return false;
    set_goal(stream);
    return true;
  }

  /// Removes a stream; the last stream takes its place.
  void retire(std::size_t stream) {
    const std::size_t last = --active_;
    for (std::size_t word = 0; word < 4; ++word)
      counters_[word * width_ + stream] = counters_[word * width_ + last];
    at_[stream] = at_[last];
    goals_[stream] = goals_[last];
    since_[stream] = since_[last];
    batches_[stream] = batches_[last];
    cursors_[stream] = cursors_[last];
    std::uint64_t* const lengths = lengths_.data();
    std::copy_n(lengths + last * (gamma_ + 1), gamma_ + 1, lengths + stream * (gamma_ + 1));
    std::fill_n(lengths + last * (gamma_ + 1), gamma_ + 1, 0);
  }

  const Steps& steps_;
  const RoundState* states_;
  std::uint16_t start_;
  std::size_t gamma_;
  const SimulationSize& simulation_;
  const Control& control_;
  std::size_t streams_;
  std::size_t width_;
  const GroupRun& group_;

  std::size_t active_ = 0;
  std::size_t leaving_ = 0;
  FastWork work_;
  alignas(64) std::array<std::uint32_t, 4 * max_streams> counters_{};
  std::array<std::uint16_t, max_streams> at_{};
  std::array<std::uint16_t, max_streams> leavers_{};
  std::array<std::uint32_t, max_streams> goals_{};
  std::array<std::uint32_t, max_streams> since_{};
  std::array<std::uint32_t, max_streams> batches_{};
  std::vector<typename Steps::Cursor> cursors_;
  std::vector<std::uint64_t> lengths_;  ///< number of rounds by accepted length, one stream after the other
};

/// Runs all trials of `simulation`, `streams` at a time in each thread.
template <class Steps>
Outcome run_interleaved(const Steps& steps, std::int32_t gamma, const SimulationSize& simulation,
                        const Control& control, std::size_t streams) {
  const RoundStates rounds = round_states(gamma, Steps::probes);
  return run_in_groups(simulation, streams, [&](const GroupRun& group) {
    InterleavedStreams<Steps>(steps, rounds, simulation, control, streams, group).run();
  });
}

}  // namespace speclab
