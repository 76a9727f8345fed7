#include "sim/fast/iid_decode.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "core/round/iid_lengths.hpp"
#include "sim/fast/length_tally.hpp"
#include "sim/fast/philox_blocks.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

constexpr std::size_t width = 8 * philox_batch;  // blocks made at once
constexpr std::uint32_t rounds_at_once = 2 * width;

/// Counts how many rounds accept 0, 1, ... gamma tokens.
class Counter {
 public:
  Counter(std::vector<std::uint64_t> thresholds, std::uint64_t seed)
      : seed_(seed), thresholds_(std::move(thresholds)), lengths_(thresholds_.size() + 1) {}

  void count(std::uint32_t trial, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t block = first / 2; block < (last + 1) / 2; block += width) {
      make_words(trial, block);
      // Words outside the range become the largest number, which lies below no threshold.
      const std::uint64_t from = 2 * std::uint64_t{block};
      for (std::uint64_t i = from; i < first; ++i) word(i - from) = ~std::uint64_t{0};
      for (std::uint64_t i = std::max<std::uint64_t>(last, from); i < from + rounds_at_once; ++i)
        word(i - from) = ~std::uint64_t{0};
      // A word accepts as many tokens as thresholds lie above it (iid_accepted). Here one threshold is
      // compared with all words at once.
      std::uint64_t before =
          std::min<std::uint64_t>(last, from + rounds_at_once) - std::max<std::uint64_t>(first, from);
      for (std::size_t k = 0; k < thresholds_.size(); ++k) {
        const std::uint64_t beyond = count_below(words_.data(), words_.size(), thresholds_[k]);
        lengths_[k] += before - beyond;
        before = beyond;
      }
      lengths_.back() += before;
    }
  }

  const std::vector<std::uint64_t>& lengths() const { return lengths_; }

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

  /// Returns the word of a round, counted from the first. All first words of the blocks come before all
  /// second ones.
  std::uint64_t& word(std::uint64_t round) { return words_[round % 2 * width + round / 2]; }

  std::uint64_t seed_;
  std::vector<std::uint64_t> thresholds_;
  std::vector<std::uint64_t> lengths_;
  std::array<std::uint32_t, 4 * width> counters_{};
  std::array<std::uint32_t, 4 * width> halves_{};
  std::array<std::uint64_t, rounds_at_once> words_{};
};

}  // namespace

Outcome decode_iid(double alpha, std::int32_t gamma, const SimulationSize& simulation,
                   const Control& control) {
  const BatchCut cut = simulation.independent_cut();
  const std::vector<std::uint64_t> thresholds = iid_thresholds(alpha, gamma);
  Outcome outcome;
  outcome.batches.resize(cut.count());
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  // Rounds are independent, so a trial may be cut anywhere.
  for_each_index(piece_count(cut), [&](std::size_t index) {
    const Piece piece = piece_at(cut, index);
    if (!simulation.only.contains(piece.batch)) return true;
    Counter counter(thresholds, simulation.seed);
    for (std::uint64_t at = piece.begin; at < piece.end;) {
      const auto trial = static_cast<std::uint32_t>(at / simulation.length);
      const auto first = static_cast<std::uint32_t>(at % simulation.length);
      const std::uint64_t rounds = std::min(piece.end - at, std::uint64_t{simulation.length} - first);
      counter.count(trial, first, static_cast<std::uint32_t>(first + rounds));
      at += rounds;
    }
    control.progress(piece.rounds());
    if (control.stop()) stopped = true;
    const std::scoped_lock lock(mutex);
    outcome.batches[piece.batch] += iid_tally(counter.lengths(), alpha);
    outcome.work.blocks += iid_blocks(piece, simulation.length);
    return !stopped;
  });
  outcome.partial = stopped;
  return outcome;
}

}  // namespace speclab
