// Many sequences taking turns in one thread, so that one's cache misses and long instructions overlap with
// the others' work, and their random numbers are made side by side. What a sequence does depends on its trial
// alone, not on who else is in flight.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "core/fast/round_states.hpp"
#include "core/distribution/select.hpp"
#include "sim/control.hpp"
#include "sim/parallel.hpp"
#include "sim/simulation_size.hpp"
#include "sim/fast/length_tally.hpp"
#include "sim/fast/philox_blocks.hpp"

namespace speclab {

/// Sequences in flight in one thread.
inline constexpr std::size_t default_lanes = 32;
inline constexpr std::size_t most_lanes = 64;
static_assert(default_lanes % philox_batch == 0 && most_lanes % philox_batch == 0);

/// One step of one sequence: where it stands, and the number for its coin; the one that picks a token is for
/// the looks.
struct Step {
  const RoundState& state;
  std::uint64_t coin;
  std::uint32_t attempt;  ///< blocks used at this site before
  std::uint32_t round;
  std::uint32_t trial;
};

enum class Fate : std::uint8_t {
  not_emitted = 0,  ///< go on to `no`
  emitted = 1,      ///< go on to `yes`
  again = 2         ///< stay: this block did not come to a token
};

/// One thread's sequences. `Steps` is the pair of models, shared by all threads:
///     Place                        a sequence's place in its text, with `overlap`, the sum of acceptance
///                                  rates (units of Tally::quantum) over contexts since it was last set to 0
///     start(prompt) -> Place
///     looks, look<i>(place, state, pick)   for i = 0..looks-1 in turn: ask the cache for what comes next
///     step(place, step, work)      one step; counts the reads of its looks, and passes
///     surveys                      whether rounds survey the context of the bonus
///     repeats                      whether a state may take several blocks; else attempts are always 0
template <class Steps>
class Lanes {
 public:
  Lanes(const Steps& steps, const RoundStates& rounds, const Plan& plan, const Control& control,
        std::size_t lanes, std::atomic<bool>& stopped, Outcome& outcome, std::mutex& mutex)
      : steps_(steps),
        states_(rounds.states.data()),
        start_(rounds.start),
        gamma_(rounds.gamma),
        plan_(plan),
        control_(control),
        lanes_(lanes),
        width_((lanes + philox_batch - 1) / philox_batch * philox_batch),
        stopped_(stopped),
        outcome_(outcome),
        mutex_(mutex),
        places_(lanes),
        lengths_(lanes * (gamma_ + 1)) {
    assert(1 <= lanes && lanes <= most_lanes);
  }

  /// Trials first..last-1.
  void run(std::uint32_t first, std::uint32_t last) {
    std::uint32_t waiting = first;
    while (active_ < lanes_ && waiting < last) admit(waiting++);
    while (active_ > 0) {
      take_turns();
      for (; leaving_ > 0; --leaving_) {
        const std::size_t lane = leavers_[leaving_ - 1];
        if (!more(lane)) retire(lane);
      }
      while (active_ < lanes_ && waiting < last && !stopped_) admit(waiting++);
    }
    const std::scoped_lock lock(mutex_);
    outcome_.work += work_;
  }

 private:
  /// Rounds between two looks at `Control`.
  static constexpr std::uint32_t stretch = 1U << 14U;

  std::uint32_t& attempt(std::size_t lane) { return counters_[lane]; }
  std::uint32_t& site(std::size_t lane) { return counters_[width_ + lane]; }
  std::uint32_t& round(std::size_t lane) { return counters_[2 * width_ + lane]; }
  std::uint32_t& trial(std::size_t lane) { return counters_[3 * width_ + lane]; }

  /// One step of every lane. What happens is as unpredictable as the coins it depends on, so that nothing
  /// here branches on it: a wrong guess costs as much as the rest of a step.
  void take_turns() {
    alignas(64) std::array<std::uint32_t, 4 * most_lanes> words;
    philox_blocks(plan_.seed, counters_.data(), words.data(), width_);
    // Local copies, so that stores to the lanes need not be feared to change them.
    const Steps steps = steps_;
    const RoundState* const states = states_;
    const std::size_t width = width_;
    const std::size_t active = active_;
    const std::size_t stride = gamma_ + 1;
    typename Steps::Place* const places = places_.data();
    std::uint64_t* const lengths = lengths_.data();
    QuickWork work;

    const auto pick = [&](std::size_t lane) { return joined(words[lane], words[width + lane]); };
    const auto look = [&]<int Look>(std::integral_constant<int, Look>) {
      for (std::size_t lane = 0; lane < active; ++lane) {
        steps.template look<Look>(places[lane], states[at_[lane]], pick(lane));
      }
    };
    [&]<int... Look>(std::integer_sequence<int, Look...>) {
      (look(std::integral_constant<int, Look>{}), ...);
    }
    (std::make_integer_sequence<int, Steps::looks>{});
    for (std::size_t lane = 0; lane < active; ++lane) {
      const std::uint16_t at = at_[lane];
      const RoundState& state = states[at];
      const std::uint64_t coin = joined(words[2 * width + lane], words[3 * width + lane]);
      const std::uint32_t attempt = counters_[lane];
      const std::uint32_t round = counters_[2 * width + lane];
      const Fate fate =
          steps.step(places[lane], Step{state, coin, attempt, round, counters_[3 * width + lane]}, work);
      std::uint32_t emitted;
      std::uint32_t next;
      if constexpr (Steps::repeats) {
        emitted = fate == Fate::emitted;
        const std::uint32_t again = fate == Fate::again;
        next = select(emitted, state.yes, select(again, at, state.no));
        const std::uint32_t stays = (1U - emitted) & static_cast<std::uint32_t>(next == at);
        counters_[lane] = select(stays, attempt + 1, 0U);
      } else {
        emitted = static_cast<std::uint32_t>(fate);
        next = select(emitted, state.yes, state.no);
      }
      const std::uint32_t ended = emitted & state.ends;
      counters_[width + lane] = states[next].site;
      counters_[2 * width + lane] = round + ended;
      at_[lane] = static_cast<std::uint16_t>(next);
      lengths[lane * stride + state.accepted] += ended;
      if ((ended & static_cast<std::uint32_t>(round + ended == goals_[lane])) != 0) [[unlikely]] {
        leavers_[leaving_++] = static_cast<std::uint16_t>(lane);
      }
    }
    work.blocks = active;
    work_ += work;
  }

  void admit(std::uint32_t trial_number) {
    const std::size_t lane = active_++;
    attempt(lane) = 0;
    at_[lane] = start_;
    site(lane) = states_[start_].site;
    round(lane) = 0;
    trial(lane) = trial_number;
    places_[lane] = steps_.start(plan_.prompt(trial_number));
    set_goal(lane);
  }

  /// The next round at which to look up: the end of a batch, of the trial, or of a stretch.
  void set_goal(std::size_t lane) {
    const std::uint64_t start = std::uint64_t{trial(lane)} * plan_.length;
    batches_[lane] = plan_.batch_of(trial(lane), round(lane));
    const std::uint64_t batch_end = plan_.batch_end(batches_[lane]) - start;
    const std::uint64_t goal =
        std::min({batch_end, std::uint64_t{plan_.length}, std::uint64_t{round(lane)} + stretch});
    since_[lane] = round(lane);
    goals_[lane] = static_cast<std::uint32_t>(goal);
  }

  /// Hands over what the lane did since its last goal; false when it is done.
  bool more(std::size_t lane) {
    control_.progress(round(lane) - since_[lane]);
    std::uint64_t* const lengths = &lengths_[lane * (gamma_ + 1)];
    const Tally tally = length_tally({lengths, gamma_ + 1}, std::exchange(places_[lane].overlap, 0));
    std::fill_n(lengths, gamma_ + 1, 0);
    {
      const std::scoped_lock lock(mutex_);
      outcome_.batches[batches_[lane]] += tally;
    }
    if (round(lane) == plan_.length) return false;
    if (stopped_ || control_.stop()) {
      stopped_ = true;
      return false;
    }
    set_goal(lane);
    return true;
  }

  /// The last lane takes its place.
  void retire(std::size_t lane) {
    const std::size_t last = --active_;
    for (std::size_t word = 0; word < 4; ++word) {
      counters_[word * width_ + lane] = counters_[word * width_ + last];
    }
    at_[lane] = at_[last];
    goals_[lane] = goals_[last];
    since_[lane] = since_[last];
    batches_[lane] = batches_[last];
    places_[lane] = places_[last];
    std::uint64_t* const lengths = lengths_.data();
    std::copy_n(lengths + last * (gamma_ + 1), gamma_ + 1, lengths + lane * (gamma_ + 1));
    std::fill_n(lengths + last * (gamma_ + 1), gamma_ + 1, 0);
  }

  const Steps& steps_;
  const RoundState* states_;
  std::uint16_t start_;
  std::size_t gamma_;
  const Plan& plan_;
  const Control& control_;
  std::size_t lanes_;
  std::size_t width_;
  std::atomic<bool>& stopped_;
  Outcome& outcome_;
  std::mutex& mutex_;

  std::size_t active_ = 0;
  std::size_t leaving_ = 0;
  QuickWork work_;
  alignas(64) std::array<std::uint32_t, 4 * most_lanes> counters_{};
  std::array<std::uint16_t, most_lanes> at_{};
  std::array<std::uint16_t, most_lanes> leavers_{};
  std::array<std::uint32_t, most_lanes> goals_{};
  std::array<std::uint32_t, most_lanes> since_{};
  std::array<std::uint32_t, most_lanes> batches_{};
  std::vector<typename Steps::Place> places_;
  std::vector<std::uint64_t> lengths_;  ///< rounds by accepted length, lane by lane
};

/// All trials of the plan, `lanes` at a time in each thread.
template <class Steps>
Outcome run_interleaved(const Steps& steps, std::int32_t gamma, const Plan& plan, const Control& control,
                        std::size_t lanes) {
  Outcome outcome;
  outcome.batches.resize(plan.cut().count());
  const RoundStates rounds = round_states(gamma, Steps::surveys);
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  // Few trials are shared out evenly; many come in several helpings a thread.
  const auto threads = static_cast<std::uint32_t>(concurrency());
  const std::uint32_t share = (plan.trials + threads - 1) / threads;
  const std::uint32_t helping = share > 4 * lanes ? (share + 3) / 4 : share;
  for_each_index((plan.trials + helping - 1) / helping, [&](std::size_t index) {
    const auto first = static_cast<std::uint32_t>(index) * helping;
    Lanes<Steps> group(steps, rounds, plan, control, lanes, stopped, outcome, mutex);
    group.run(first, first + std::min(helping, plan.trials - first));
  });
  outcome.partial = stopped;
  return outcome;
}

}  // namespace speclab
