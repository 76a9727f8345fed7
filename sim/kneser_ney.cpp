#include "speclab/sim/kneser_ney.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "speclab/sim/error.hpp"

namespace speclab {

namespace {

struct Counted {
  PackedNgram key;
  std::uint32_t count;
  std::uint32_t suffix;  // position, in the list of n-grams one shorter, of this one without its oldest token
};

/// Distinct n-grams of the stream, ascending, with their numbers of occurrences.
std::vector<Counted> occurrences(std::span<const Token> tokens, const NgramPacking& packing, int order) {
  std::vector<PackedNgram> keys;
  keys.reserve(tokens.size());
  PackedNgram key = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    key = packing.append(packing.suffix(key, order - 1), tokens[i]);
    if (i + 1 >= static_cast<std::size_t>(order)) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Counted> counted;
  for (const PackedNgram ngram : keys) {
    if (counted.empty() || counted.back().key != ngram) counted.push_back({ngram, 0, 0});
    ++counted.back().count;
  }
  return counted;
}

/// For each n-gram, the number of distinct tokens before it: `longer` are all (n + 1)-grams, `start` the
/// n-gram that begins the stream. Notes in `longer` where each suffix went.
std::vector<Counted> continuations(std::vector<Counted>& longer, const NgramPacking& packing, int order,
                                   PackedNgram start) {
  // The position rides in the low bits of the key that is sorted: one sort finds both counts and positions.
  constexpr int position_bits = 32;
  static_assert((max_ngram_order - 1) * packed_token_bits + position_bits <= 128);
  std::vector<PackedNgram> keys;
  keys.reserve(longer.size() + 1);
  for (std::size_t i = 0; i < longer.size(); ++i) {
    keys.push_back((packing.suffix(longer[i].key, order) << position_bits) | i);
  }
  keys.push_back((start << position_bits) | longer.size());
  std::sort(keys.begin(), keys.end());
  std::vector<Counted> counted;
  for (const PackedNgram key : keys) {
    const PackedNgram ngram = key >> position_bits;
    if (counted.empty() || counted.back().key != ngram) counted.push_back({ngram, 0, 0});
    ++counted.back().count;
    const auto position = static_cast<std::uint32_t>(key);
    if (position == longer.size()) continue;
    // Unigrams are listed by id, seen or not; longer n-grams only if seen.
    longer[position].suffix = static_cast<std::uint32_t>(order == 1 ? ngram : counted.size() - 1);
  }
  return counted;
}

double discount(const std::vector<Counted>& ngrams) {
  double once = 0;
  double twice = 0;
  for (const Counted& ngram : ngrams) {
    once += ngram.count == 1 ? 1 : 0;
    twice += ngram.count == 2 ? 1 : 0;
  }
  return once > 0 && twice > 0 ? once / (once + 2 * twice) : 0.5;
}

std::vector<ListedNgram> unigrams(const std::vector<Counted>& counted, std::int32_t vocab) {
  double total = 0;
  for (const Counted& ngram : counted) total += ngram.count;
  const double d = discount(counted);
  const double rest = d * static_cast<double>(counted.size()) / total;
  std::vector<ListedNgram> listed;
  listed.reserve(static_cast<std::size_t>(vocab));
  for (std::int32_t id = 0; id < vocab; ++id) {
    listed.push_back({static_cast<PackedNgram>(static_cast<std::uint32_t>(id)), rest / vocab});
  }
  for (const Counted& ngram : counted)
    listed[static_cast<std::size_t>(ngram.key)].probability += (ngram.count - d) / total;
  return listed;
}

/// The n-grams of one order, given all those one shorter; writes the back-off weights of their contexts into
/// the latter.
std::vector<ListedNgram> interpolate(const std::vector<Counted>& counted, std::vector<ListedNgram>& shorter,
                                     const NgramPacking& packing) {
  const double d = discount(counted);
  std::vector<ListedNgram> listed;
  listed.reserve(counted.size());
  std::size_t at = 0;  // contexts ascend with the n-grams, and each is listed among the shorter ones
  for (std::size_t first = 0; first < counted.size();) {
    const PackedNgram context = packing.context(counted[first].key);
    double total = 0;
    std::size_t last = first;
    for (; last < counted.size() && packing.context(counted[last].key) == context; ++last)
      total += counted[last].count;
    const double rest = d * static_cast<double>(last - first) / total;
    while (shorter[at].key != context) ++at;
    shorter[at].backoff = rest;
    for (; first < last; ++first) {
      const double lower = shorter[counted[first].suffix].probability;
      listed.push_back({counted[first].key, (counted[first].count - d) / total + rest * lower});
    }
  }
  return listed;
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
  std::vector<std::vector<Counted>> counted(static_cast<std::size_t>(order));
  counted.back() = occurrences(tokens, packing, order);
  for (std::size_t n = counted.size() - 1; n > 0; --n) {
    counted[n - 1] = continuations(counted[n], packing, static_cast<int>(n), packing.pack(tokens.first(n)));
  }
  NgramList list{vocab, {unigrams(counted[0], vocab)}};
  for (std::size_t n = 1; n < counted.size(); ++n) {
    list.levels.push_back(interpolate(counted[n], list.levels[n - 1], packing));
  }
  return NgramModel(list);
}

}  // namespace speclab
