#include "speclab/sim/quick/iid_rounds.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <vector>

#include "speclab/core/philox.hpp"
#include "speclab/sim/parallel.hpp"
#include "speclab/sim/quick/philox_blocks.hpp"

namespace speclab {

namespace {

constexpr std::size_t width = 8 * philox_batch;  // blocks made at once
constexpr std::uint32_t rounds_at_once = 2 * width;
constexpr std::uint64_t stretch = 1U << 20U;  // rounds between two looks at Control

/// round(2^64 * probability), as far as 64 bits go. The largest stands for 1 as well: it fails once in 2^64.
std::uint64_t threshold(double probability) {
  const double scaled = std::round(probability * 0x1p64);
  return scaled >= 0x1p64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(scaled);
}

/// Rounds [first, last) of a trial: how many keep at least 1, 2, ... gamma tokens.
class Counter {
 public:
  Counter(double alpha, std::int32_t gamma, std::uint64_t seed) : seed_(seed) {
    double power = 1;
    for (std::int32_t k = 0; k < gamma; ++k) thresholds_.push_back(threshold(power *= alpha));
    at_least_.resize(thresholds_.size());
  }

  void count(std::uint32_t trial, std::uint32_t first, std::uint32_t last) {
    std::fill(at_least_.begin(), at_least_.end(), 0);
    for (std::uint32_t block = first / 2; block < (last + 1) / 2; block += width) {
      make_words(trial, block);
      // Words outside the range are the largest number, which is below nothing.
      const std::uint64_t from = 2 * std::uint64_t{block};
      for (std::uint64_t i = from; i < first; ++i) word(i - from) = ~std::uint64_t{0};
      for (std::uint64_t i = std::max<std::uint64_t>(last, from); i < from + rounds_at_once; ++i) {
        word(i - from) = ~std::uint64_t{0};
      }
      for (std::size_t k = 0; k < thresholds_.size(); ++k) {
        at_least_[k] += count_below(words_.data(), words_.size(), thresholds_[k]);
      }
    }
  }

  Tally tally(std::uint64_t rounds, double alpha) const {
    const auto gamma = static_cast<std::int32_t>(thresholds_.size());
    Tally tally;
    std::uint64_t before = rounds;
    for (std::int32_t kept = 0; kept <= gamma; ++kept) {
      const std::uint64_t beyond = kept < gamma ? at_least_[static_cast<std::size_t>(kept)] : 0;
      tally.add_rounds(Round{gamma, gamma, std::min(kept + 1, gamma), kept}, before - beyond);
      before = beyond;
    }
    tally.overlap_quanta = WideCount{tally.emitted} * ContextSum::quanta_of(alpha);
    tally.overlap_contexts = tally.emitted;
    return tally;
  }

 private:
  void make_words(std::uint32_t trial, std::uint32_t block) {
    for (std::uint32_t i = 0; i < width; ++i) {
      counters_[i] = 0;
      counters_[width + i] = use_and_slot({Use::iid, 0});
      counters_[2 * width + i] = block + i;
      counters_[3 * width + i] = trial;
    }
    philox_blocks(seed_, counters_.data(), halves_.data(), width);
    for (std::size_t i = 0; i < width; ++i) {
      words_[i] = joined(halves_[i], halves_[width + i]);
      words_[width + i] = joined(halves_[2 * width + i], halves_[3 * width + i]);
    }
  }

  /// Of a round, counted from the first: all first words of the blocks come before all second ones.
  std::uint64_t& word(std::uint64_t round) { return words_[round % 2 * width + round / 2]; }

  std::uint64_t seed_;
  std::vector<std::uint64_t> thresholds_;
  std::vector<std::uint64_t> at_least_;
  std::array<std::uint32_t, 4 * width> counters_{};
  std::array<std::uint32_t, 4 * width> halves_{};
  std::array<std::uint64_t, rounds_at_once> words_{};
};

}  // namespace

Outcome decode_iid(double alpha, std::int32_t gamma, const Plan& plan, const Control& control) {
  Outcome outcome;
  outcome.batches.resize(std::min<std::uint64_t>(plan.batches, plan.total()));
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  // Rounds have no memory, so that a trial may be cut anywhere. The first piece of every batch comes before
  // the second of any, so that whoever stops has something of each.
  const std::size_t batches = outcome.batches.size();
  const std::size_t pieces = (plan.total() / batches + stretch) / stretch;
  for_each_index(pieces * batches, [&](std::size_t index) {
    if (stopped) return;
    const auto batch = static_cast<std::uint32_t>(index % batches);
    std::uint64_t at = (batch == 0 ? 0 : plan.batch_end(batch - 1)) + index / batches * stretch;
    const std::uint64_t end = std::min(at + stretch, plan.batch_end(batch));
    Counter counter(alpha, gamma, plan.seed);
    Tally tally;
    QuickWork work;
    while (at < end) {
      const auto trial = static_cast<std::uint32_t>(at / plan.length);
      const auto first = static_cast<std::uint32_t>(at % plan.length);
      const std::uint64_t rounds = std::min(end - at, std::uint64_t{plan.length} - first);
      const auto last = static_cast<std::uint32_t>(first + rounds);
      counter.count(trial, first, last);
      tally += counter.tally(rounds, alpha);
      work.blocks += (last + 1) / 2 - first / 2;
      at += rounds;
    }
    control.progress(tally.rounds);
    if (control.stop()) stopped = true;
    const std::scoped_lock lock(mutex);
    outcome.batches[batch] += tally;
    outcome.work += work;
  });
  outcome.partial = stopped;
  return outcome;
}

}  // namespace speclab
