// Divides a run into independent trials, and trials into batches for intervals.
#pragma once

#include <cassert>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "core/round/batches.hpp"
#include "core/token.hpp"
#include "sim/tally.hpp"

namespace speclab {

/// With at least this many trials, intervals of dependent rounds use batches of complete trials, which are
/// independent for any autocorrelation within a sequence. Coverage of 95% intervals, on two-state chains that
/// accept with .9 and .5, or .99 and .1, and mix in 0, 5, 20, 100 rounds or never: .935 to .963 with 8 trials
/// of 50 or 100 rounds, .941 to .957 with 16 and 64. The worst chains never leave their first state: all 8
/// trials are in one state once in 128 times.
inline constexpr std::uint32_t min_independent_trials = 8;

/// Batches first..last-1.
struct BatchSpan {
  std::uint32_t first = 0;
  std::uint32_t last = std::numeric_limits<std::uint32_t>::max();

  bool contains(std::uint32_t batch) const { return first <= batch && batch < last; }
};

struct SimulationSize {
  std::uint64_t seed = 1;
  std::uint32_t trials = 64;    ///< independent sequences, each starting from the prompt
  std::uint32_t length = 1000;  ///< rounds (or tokens) in each
  std::vector<std::vector<Token>> prompts{
      {}};                     ///< contexts before the first token; trials cycle through them
  std::uint32_t batches = 64;  ///< maximum of batches, for batch means
  BatchSpan only = {};         ///< the batches to run; the tallies of others stay empty

  const std::vector<Token>& prompt(std::uint32_t trial) const { return prompts[trial % prompts.size()]; }

  std::uint64_t total() const { return static_cast<std::uint64_t>(trials) * length; }

  /// Returns the trials of `only`, first..last-1. Its batches must consist of complete trials, or be all
  /// batches.
  std::pair<std::uint32_t, std::uint32_t> trials_to_run() const {
    const BatchCut all = cut();
    if (only.first == 0 && only.last >= all.count()) return {0, trials};
    assert(has_independent_trials());
    const auto trial = [&](std::uint32_t batch) {
      return batch < all.count() ? static_cast<std::uint32_t>(all.begin(batch) / length) : trials;
    };
    return {trial(only.first), trial(only.last)};
  }

  bool has_independent_trials() const { return trials >= min_independent_trials; }

  /// Cuts into batches of complete trials if there are enough trials, else into spans of rounds that may be
  /// dependent.
  BatchCut cut() const { return {total(), batches, has_independent_trials() ? length : 1U}; }

  /// Cuts rounds that are independent of each other, regardless of trials.
  BatchCut independent_cut() const { return {total(), batches}; }

  /// Returns the batch of one round, by `cut`.
  std::uint32_t batch_of(std::uint32_t trial, std::uint32_t round) const {
    return cut().batch_of(static_cast<std::uint64_t>(trial) * length + round);
  }

  /// Returns one past the last round of a batch, counted over all trials: trial * length + round.
  std::uint64_t batch_end(std::uint32_t batch) const { return cut().end(batch); }
};

/// The work of fast decoding (sim/fast). Counts, not timings: the same on every machine.
struct FastWork {
  std::uint64_t blocks = 0;  ///< Philox blocks used
  std::uint64_t reads = 0;   ///< random reads of the models' tables, each in one cache line
  std::uint64_t passes = 0;  ///< residuals drawn by a pass over the vocabulary

  FastWork& operator+=(const FastWork& other) {
    blocks += other.blocks;
    reads += other.reads;
    passes += other.passes;
    return *this;
  }
  bool operator==(const FastWork&) const = default;
};

/// The result of a run: one tally per batch, and whether the run was stopped early.
struct Outcome {
  std::vector<Tally> batches;
  bool partial = false;
  FastWork work;  ///< work of fast decoding

  Tally total() const {
    Tally sum;
    for (const Tally& batch : batches) sum += batch;
    return sum;
  }
};

/// Collects the tallies of one trial and writes each batch to the outcome when the trial leaves it.
class BatchWriter {
 public:
  BatchWriter(const SimulationSize& simulation, Outcome& outcome, std::mutex& mutex)
      : simulation_(simulation), outcome_(outcome), mutex_(mutex) {}
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;
  ~BatchWriter() { flush(); }

  /// Returns the tally that (trial, round) belongs to.
  Tally& at(std::uint32_t trial, std::uint32_t round) {
    const std::uint32_t batch = simulation_.batch_of(trial, round);
    if (batch != batch_) flush();
    batch_ = batch;
    return tally_;
  }

 private:
  void flush() {
    if (tally_ == Tally{}) return;
    const std::scoped_lock lock(mutex_);
    outcome_.batches[batch_] += tally_;
    tally_ = Tally{};
  }

  const SimulationSize& simulation_;
  Outcome& outcome_;
  std::mutex& mutex_;
  Tally tally_;
  std::uint32_t batch_ = 0;
};

}  // namespace speclab
