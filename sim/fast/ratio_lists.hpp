// Lists of tokens by ascending target / draft, with suffix sums. One binary search gives
//     T(G) = sum (p - G q)+
// over a list: the terms above 0 are those from the first token with p / q > G on, so that T(G) = P - G Q
// with P and Q summed from there. A second search draws from (p - G q)+. Searches of many lists are
// interleaved, so that they wait for memory at the same time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/token.hpp"
#include "sim/fast/huge_pages.hpp"

namespace speclab {

struct PairedProbability {
  Token token;
  double target;
  double draft;
};

/// The range of a list: entries first..first+size-1, and one entry after them that ends its searches.
struct RatioList {
  std::uint64_t first = 0;
  std::uint32_t size = 0;
};

/// One search in flight.
struct RatioSearch {
  std::uint64_t at;    ///< first entry that may be the answer
  std::uint32_t left;  ///< number of later entries that may be the answer
  double scale;        ///< G
  double goal = 0;
};

class RatioLists {
 public:
  /// Reserves `entries` entries, including those that end lists; the first `with_tokens` have tokens.
  void allocate(std::uint64_t entries, std::uint64_t with_tokens) {
    ratios_.resize(entries);
    sums_.resize(entries);
    tokens_.resize(with_tokens);
  }
  /// Sorts and stores `entries`, as many as the list has. Target probabilities must be above 0. Equal ratios
  /// are ordered by token.
  void fill(const RatioList& list, std::span<PairedProbability> entries);

  static std::size_t bytes_for(double entries, double with_tokens) {
    return static_cast<std::size_t>(entries * (sizeof(double) + sizeof(Sums)) + with_tokens * sizeof(Token));
  }
  std::size_t bytes() const {
    return bytes_for(static_cast<double>(ratios_.size()), static_cast<double>(tokens_.size()));
  }

  /// Moves each search to the first entry with p / q > scale, or to the end of its list.
  void find_above(std::span<RatioSearch> searches) const {
    step_together(searches, ratios_.data(), [this](const RatioSearch& search, std::uint64_t entry) {
      return !(ratios_[entry] > search.scale);
    });
    for (const RatioSearch& search : searches) __builtin_prefetch(&sums_[search.at]);
  }
  /// Continues where find_above ended: moves each search to the last entry whose sum to the end of the list
  /// exceeds `goal`, which must be below the sum at the search's entry. If goal is uniform below that sum,
  /// this draws from (p - scale q)+.
  void find_drawn(std::span<RatioSearch> searches) const {
    for (RatioSearch& search : searches) {
      ++search.at;  // the first entry is above the goal
      search.left -= search.left > 0;
    }
    step_together(searches, sums_.data(), [this](const RatioSearch& search, std::uint64_t entry) {
      return total_from(entry, search.scale) > search.goal;
    });
    for (RatioSearch& search : searches) __builtin_prefetch(&tokens_[--search.at]);
  }

  /// Returns sum (p - scale q) over the list from an entry on.
  double total_from(std::uint64_t entry, double scale) const {
    return sums_[entry].target - scale * sums_[entry].draft;
  }
  /// Returns sum q over the same entries.
  double draft_from(std::uint64_t entry) const { return sums_[entry].draft; }
  double ratio(std::uint64_t entry) const { return ratios_[entry]; }
  Token token(std::uint64_t entry) const { return tokens_[entry]; }

  /// Returns T(scale) of one list, and sets `draft` to the sum of q over the same tokens, -T'(scale).
  double total(const RatioList& list, double scale, double* draft = nullptr) const {
    RatioSearch search{list.first, list.size, scale};
    find_above({&search, 1});
    if (draft != nullptr) *draft = sums_[search.at].draft;
    return total_from(search.at, scale);
  }

  static RatioSearch search(const RatioList& list, double scale) { return {list.first, list.size, scale}; }
  /// Returns the number of cache lines that a search reads in a list of `size` entries.
  static std::uint32_t reads(std::uint32_t size) {
    return 1 + static_cast<std::uint32_t>(std::bit_width(size / entries_a_line));
  }

 private:
  struct Sums {
    double target;
    double draft;
  };
  static constexpr std::uint32_t entries_a_line = 8;

  /// Halves all searches until none has entries left. `before(search, entry)` says that the answer is after
  /// the entry.
  template <class Entry, class Before>
  static void step_together(std::span<RatioSearch> searches, const Entry* entries, const Before& before) {
    std::uint32_t longest = 0;
    for (const RatioSearch& search : searches) {
      longest = std::max(longest, search.left);
      __builtin_prefetch(entries + search.at + search.left / 2);
    }
    for (int step = std::bit_width(longest); step > 0; --step) {
      for (RatioSearch& search : searches) {
        const std::uint32_t half = search.left / 2;
        // A search without entries left has found its answer. Branchless, because the direction of a step is
        // random.
        const auto beyond = static_cast<std::uint32_t>(before(search, search.at + half)) & (search.left > 0);
        search.at += beyond * (half + 1);
        search.left = beyond * (search.left - half - 1) + (1 - beyond) * half;
        __builtin_prefetch(entries + search.at + search.left / 2);
      }
    }
  }

  BigTable<double> ratios_;  ///< infinite at the end of a list
  BigTable<Sums> sums_;      ///< sums from the entry to the end of its list
  BigTable<Token> tokens_;
};

}  // namespace speclab
