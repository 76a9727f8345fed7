#include "speclab/sim/kneser_ney.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "speclab/sim/error.hpp"
#include "speclab/sim/radix_sort.hpp"

namespace speclab {

namespace {

/// The distinct n-grams of one order, ascending. Arrays of their own rather than one of structures: a 128-bit
/// key would pad each to 32 bytes, and most passes need one member.
struct Counts {
  std::vector<PackedNgram> keys;
  std::vector<std::uint32_t> counts;
  /// Position of each n-gram without its oldest token: in the list of those one shorter, or its id.
  std::vector<std::uint32_t> suffixes;

  /// Room for what `ngram(i)`, i = 0.. size - 1 and ascending, has that is distinct: memory that is never
  /// used costs nothing, memory that is moved as it grows costs more than the pass that counts.
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

/// Lists of n-grams to be sorted, longest first, in memory that is taken once.
struct Sorter {
  std::vector<PackedNgram> keys;
  std::vector<PackedNgram> scratch;

  void sort(int first_bit, int last_bit) { radix_sort(keys, scratch, first_bit, last_bit); }
};

/// Distinct n-grams of the stream with their numbers of occurrences.
Counts occurrences(std::span<const Token> tokens, const NgramPacking& packing, int order, Sorter& sorter) {
  sorter.keys.reserve(tokens.size());
  PackedNgram key = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    key = packing.append(packing.suffix(key, order - 1), tokens[i]);
    if (i + 1 >= static_cast<std::size_t>(order)) sorter.keys.push_back(key);
  }
  sorter.sort(0, packing.bits(order));
  Counts counted;
  counted.reserve_distinct(sorter.keys.size(), [&](std::size_t i) { return sorter.keys[i]; });
  for (const PackedNgram ngram : sorter.keys) counted.add(ngram);
  return counted;
}

/// For each n-gram, the number of distinct tokens before it: `longer` are all (n + 1)-grams, `start` the
/// n-gram that begins the stream. Notes in `longer` where each suffix went.
Counts continuations(Counts& longer, const NgramPacking& packing, int order, PackedNgram start,
                     Sorter& sorter) {
  // The position rides in the low bits of the key that is sorted: one sort finds both counts and positions.
  constexpr int position_bits = 32;
  static_assert((max_ngram_order - 1) * packed_token_bits + position_bits <= 128);
  const std::size_t size = longer.keys.size();
  sorter.keys.clear();
  for (std::size_t i = 0; i < size; ++i) {
    sorter.keys.push_back((packing.suffix(longer.keys[i], order) << position_bits) | i);
  }
  sorter.keys.push_back((start << position_bits) | size);
  sorter.sort(position_bits, position_bits + packing.bits(order));
  Counts counted;
  counted.reserve_distinct(sorter.keys.size(),
                           [&](std::size_t i) { return sorter.keys[i] >> position_bits; });
  longer.suffixes.resize(size);
  for (const PackedNgram key : sorter.keys) {
    const PackedNgram ngram = key >> position_bits;
    counted.add(ngram);
    const auto position = static_cast<std::uint32_t>(key);
    if (position == size) continue;
    // Unigrams are listed by id, seen or not; longer n-grams only if seen.
    longer.suffixes[position] = static_cast<std::uint32_t>(order == 1 ? ngram : counted.keys.size() - 1);
  }
  return counted;
}

double discount(const Counts& ngrams) {
  const auto once = static_cast<double>(std::count(ngrams.counts.begin(), ngrams.counts.end(), 1U));
  const auto twice = static_cast<double>(std::count(ngrams.counts.begin(), ngrams.counts.end(), 2U));
  return once > 0 && twice > 0 ? once / (once + 2 * twice) : 0.5;
}

/// By id.
std::vector<double> unigrams(const Counts& counted, std::int32_t vocab) {
  double total = 0;
  for (const std::uint32_t count : counted.counts) total += count;
  const double d = discount(counted);
  const double rest = d * static_cast<double>(counted.keys.size()) / total;
  std::vector<double> probabilities(static_cast<std::size_t>(vocab), rest / vocab);
  for (std::size_t i = 0; i < counted.keys.size(); ++i) {
    probabilities[static_cast<std::size_t>(counted.keys[i])] += (counted.counts[i] - d) / total;
  }
  return probabilities;
}

/// The n-grams of one order as followers of their contexts, given the probabilities of those one shorter.
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
  if (order < 1 || order > max_ngram_order) {
    throw ModelError(fmt::format("n-gram order {}; 1 to {} are supported", order, max_ngram_order));
  }
  if (tokens.size() < static_cast<std::size_t>(order)) {
    throw ModelError(fmt::format("{} tokens cannot train an n-gram model of order {}", tokens.size(), order));
  }
  if (tokens.size() >= std::numeric_limits<std::uint32_t>::max()) {
    throw ModelError(fmt::format("{} tokens; fewer than 2^32 are supported", tokens.size()));
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= vocab) {
      throw ModelError(fmt::format("token {} of the corpus is {}; ids are 0 to {}", i, tokens[i], vocab - 1));
    }
  }
}

}  // namespace

NgramModel train_kneser_ney(std::span<const Token> tokens, std::int32_t vocab, int order) {
  check(tokens, vocab, order);
  const NgramPacking packing(vocab);
  std::vector<Counts> counted(static_cast<std::size_t>(order));
  {
    Sorter sorter;
    counted.back() = occurrences(tokens, packing, order, sorter);
    for (std::size_t n = counted.size() - 1; n > 0; --n) {
      counted[n - 1] =
          continuations(counted[n], packing, static_cast<int>(n), packing.pack(tokens.first(n)), sorter);
    }
  }
  std::vector<double> by_id = unigrams(counted[0], vocab);
  std::vector<NgramLevel> levels;
  levels.reserve(counted.size() - 1);
  for (std::size_t n = 1; n < counted.size(); ++n) {
    levels.push_back(interpolate(
        counted[n], n == 1 ? std::span<const double>(by_id) : levels.back().probabilities, packing));
    counted[n] = {};  // the model grows as the counts go
  }
  return {std::move(by_id), std::move(levels)};
}

}  // namespace speclab
