#include "sim/models/kneser_ney.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "sim/error.hpp"
#include "sim/models/radix_sort.hpp"

namespace speclab {

namespace {

/// The distinct n-grams of one order, ascending. Separate arrays instead of an array of structures: a 128-bit
/// key would pad each structure to 32 bytes, and most passes need one member.
struct Counts {
  std::vector<PackedNgram> keys;
  std::vector<std::uint32_t> counts;
  /// Position of each n-gram without its oldest token: in the list of n-grams one shorter, or its id.
  std::vector<std::uint32_t> suffixes;

  /// Reserves memory for the distinct n-grams among ngram(0), ..., ngram(size - 1), which ascend. This pass
  /// takes less time and memory than lists that move as they grow.
  template <class At>
  void reserve_distinct(std::size_t size, const At& ngram) {
    std::size_t distinct = size > 0 ? 1 : 0;
    for (std::size_t i = 1; i < size; ++i) distinct += ngram(i) != ngram(i - 1) ? 1 : 0;
    keys.reserve(distinct);
    counts.reserve(distinct);
  }
  void add(PackedNgram ngram) {
    if (keys.empty() || keys.back() != ngram) {
      keys.push_back(ngram);
      counts.push_back(0);
    }
    ++counts.back();
  }
};

/// Counts n-grams by sorting them, longest first, in memory that is allocated once. A key holds an n-gram
/// and, below the longest order, a position.
template <class Key>
class Counter {
 public:
  Counter(std::span<const Token> tokens, const NgramPacking& packing) : tokens_(tokens), packing_(packing) {}

  /// Returns the distinct n-grams of the stream with their numbers of occurrences.
  Counts occurrences(int order) {
    keys_.reserve(tokens_.size());
    PackedNgram key = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      key = packing_.append(packing_.suffix(key, order - 1), tokens_[i]);
      if (i + 1 >= static_cast<std::size_t>(order)) keys_.push_back(static_cast<Key>(key));
    }
    radix_sort(keys_, scratch_, 0, packing_.bits(order));
    Counts counted;
    counted.reserve_distinct(keys_.size(), [&](std::size_t i) { return keys_[i]; });
    for (const Key ngram : keys_) counted.add(ngram);
    return counted;
  }

  /// Returns, for each n-gram, the number of distinct tokens before it. `longer` are all (n + 1)-grams; the
  /// position of each one's suffix is noted in `longer`.
  Counts continuations(Counts& longer, int order) {
    // The position occupies the low bits of the sorted key: one sort finds both counts and positions.
    const std::size_t size = longer.keys.size();
    const auto position_bits = static_cast<int>(std::bit_width(size));
    const auto join = [&](PackedNgram ngram, std::size_t position) {
      return static_cast<Key>((ngram << position_bits) | position);
    };
    keys_.clear();
    for (std::size_t i = 0; i < size; ++i) keys_.push_back(join(packing_.suffix(longer.keys[i], order), i));
    // The start of the stream counts as a token before its first n-gram.
    keys_.push_back(join(packing_.pack(tokens_.first(static_cast<std::size_t>(order))), size));
    radix_sort(keys_, scratch_, position_bits, position_bits + packing_.bits(order));
    Counts counted;
    counted.reserve_distinct(keys_.size(), [&](std::size_t i) { return keys_[i] >> position_bits; });
    longer.suffixes.resize(size);
    for (const Key key : keys_) {
      const Key ngram = key >> position_bits;
      counted.add(ngram);
      const auto position = static_cast<std::size_t>(key & ((Key{1} << position_bits) - 1));
      if (position == size) continue;
      // Unigrams are listed by id, seen or not; longer n-grams only if seen.
      longer.suffixes[position] = static_cast<std::uint32_t>(order == 1 ? ngram : counted.keys.size() - 1);
    }
    return counted;
  }

 private:
  std::span<const Token> tokens_;
  NgramPacking packing_;
  std::vector<Key> keys_;
  std::vector<Key> scratch_;
};

/// result[n - 1] are the n-grams. The counter is passed by value, so that its memory is freed on return.
template <class Key>
std::vector<Counts> count_with(Counter<Key> counter, int order) {
  std::vector<Counts> counted(static_cast<std::size_t>(order));
  counted.back() = counter.occurrences(order);
  for (std::size_t n = counted.size() - 1; n > 0; --n)
    counted[n - 1] = counter.continuations(counted[n], static_cast<int>(n));
  return counted;
}

std::vector<Counts> count(std::span<const Token> tokens, const NgramPacking& packing, int order) {
  static_assert((max_ngram_order - 1) * packed_token_bits + 32 <= 128);  // check() bounds positions
  const int position_bits = static_cast<int>(std::bit_width(tokens.size()));
  const int widest = std::max(packing.bits(order), packing.bits(order - 1) + position_bits);
  if (widest <= 64) return count_with(Counter<std::uint64_t>(tokens, packing), order);
  return count_with(Counter<PackedNgram>(tokens, packing), order);
}

double discount(const Counts& ngrams) {
  const auto once = static_cast<double>(std::count(ngrams.counts.begin(), ngrams.counts.end(), 1U));
  const auto twice = static_cast<double>(std::count(ngrams.counts.begin(), ngrams.counts.end(), 2U));
  return once > 0 && twice > 0 ? once / (once + 2 * twice) : 0.5;
}

std::vector<double> unigrams(const Counts& counted, std::int32_t vocab) {
  double total = 0;
  for (const std::uint32_t count : counted.counts) total += count;
  const double d = discount(counted);
  const double rest = d * static_cast<double>(counted.keys.size()) / total;
  std::vector<double> probabilities(static_cast<std::size_t>(vocab), rest / vocab);
  for (std::size_t i = 0; i < counted.keys.size(); ++i)
    probabilities[static_cast<std::size_t>(counted.keys[i])] += (counted.counts[i] - d) / total;
  return probabilities;
}

/// Returns the n-grams of one order as followers of their contexts, given the probabilities of the n-grams
/// one shorter.
NgramLevel interpolate(const Counts& counted, std::span<const double> lower, const NgramPacking& packing) {
  const double d = discount(counted);
  const std::size_t size = counted.keys.size();
  const auto context_at = [&](std::size_t i) { return packing.context(counted.keys[i]); };
  NgramLevel level;
  std::size_t contexts = 1;
  for (std::size_t i = 1; i < size; ++i) contexts += context_at(i) != context_at(i - 1) ? 1 : 0;
  level.contexts.reserve(contexts);
  level.tokens.reserve(size);
  level.probabilities.reserve(size);
  for (std::size_t first = 0; first < size;) {
    const PackedNgram context = context_at(first);
    double total = 0;
    std::size_t last = first;
    for (; last < size && context_at(last) == context; ++last) total += counted.counts[last];
    const double rest = d * static_cast<double>(last - first) / total;
    level.contexts.push_back(
        {context, rest, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last - first)});
    for (; first < last; ++first) {
      level.tokens.push_back(packing.last(counted.keys[first]));
      level.probabilities.push_back((counted.counts[first] - d) / total +
                                    rest * lower[counted.suffixes[first]]);
    }
  }
  return level;
}

void check(std::span<const Token> tokens, std::int32_t vocab, int order) {
  if (vocab < 1 || vocab > max_ngram_vocab) {
    throw ModelError(
        fmt::format("n-gram vocabulary of {} tokens; 1 to {} are supported", vocab, max_ngram_vocab));
  }
  if (order < 1 || order > max_ngram_order)
    throw ModelError(fmt::format("n-gram order {}; 1 to {} are supported", order, max_ngram_order));
  if (tokens.size() < static_cast<std::size_t>(order))
    throw ModelError(fmt::format("{} tokens cannot train an n-gram model of order {}", tokens.size(), order));
  if (tokens.size() >= std::numeric_limits<std::uint32_t>::max())
    throw ModelError(fmt::format("{} tokens; fewer than 2^32 are supported", tokens.size()));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= vocab)
      throw ModelError(fmt::format("token {} of the corpus is {}; ids are 0 to {}", i, tokens[i], vocab - 1));
  }
}

}  // namespace

NgramModel train_kneser_ney(std::span<const Token> tokens, std::int32_t vocab, int order) {
  check(tokens, vocab, order);
  const NgramPacking packing(vocab);
  std::vector<Counts> counted = count(tokens, packing, order);
  std::vector<double> by_id = unigrams(counted[0], vocab);
  std::vector<NgramLevel> levels;
  levels.reserve(counted.size() - 1);
  for (std::size_t n = 1; n < counted.size(); ++n) {
    levels.push_back(interpolate(
        counted[n], n == 1 ? std::span<const double>(by_id) : levels.back().probabilities, packing));
    counted[n] = {};  // frees the counts while the model grows
  }
  return {std::move(by_id), std::move(levels)};
}

}  // namespace speclab
