#include "sim/models/cached_model.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace speclab {

namespace {

struct PastOccurrence {
  Token follower;
  std::size_t match;
};

/// Returns earlier places where `text` reads as it does at its end, and the length of each match, at most
/// `longest`.
std::vector<PastOccurrence> occurrences(std::span<const Token> text, std::size_t longest) {
  std::vector<PastOccurrence> found;
  const auto last = text.end() - 1;
  for (auto at = std::find(text.begin(), last, *last); at != last; at = std::find(at + 1, last, *last)) {
    const auto end = static_cast<std::size_t>(at - text.begin()) + 1;
    const std::size_t limit = std::min(longest, end);
    std::size_t match = 1;
    while (match < limit && text[end - 1 - match] == text[text.size() - 1 - match]) ++match;
    found.push_back({text[end], match});
  }
  return found;
}

}  // namespace

CachedModel::CachedModel(Model base, const CacheOptions& options)
    : base_(std::move(base)), options_(options) {
  assert(0 <= options.weight && options.weight < 1 && options.half_match >= 0);
  assert(0 <= options.unigram_weight && options.unigram_weight < 1 && options.smoothing > 0);
  assert(options.max_match >= 1 && options.window >= 2);
}

std::int32_t CachedModel::vocab() const { return base_.vocab(); }

std::optional<int> CachedModel::memory() const {
  const std::optional<int> base = base_.memory();
  return base ? std::optional<int>(std::max(*base, options_.window)) : std::nullopt;
}

Row CachedModel::next(std::span<const Token> context, std::vector<double>& scratch) const {
  const Row base = base_.next(context, scratch);
  if (context.empty()) return base;
  const std::span<const Token> text =
      context.last(std::min(context.size(), static_cast<std::size_t>(options_.window)));
  const std::vector<PastOccurrence> found = occurrences(text, static_cast<std::size_t>(options_.max_match));

  // count[n] is C_n.
  std::vector<double> count(1);
  for (const PastOccurrence& occurrence : found) {
    if (occurrence.match >= count.size()) count.resize(occurrence.match + 1);
    ++count[occurrence.match];
  }
  const std::size_t longest = count.size() - 1;
  for (std::size_t n = longest; n-- > 1;) count[n] += count[n + 1];

  const auto matched = static_cast<double>(longest);
  const double weight =
      longest == 0 ? options_.unigram_weight : options_.weight * matched / (matched + options_.half_match);
  // From the longest match down: worth[n] is the total contribution of an occurrence that matches n tokens.
  std::vector<double>& worth = count;
  double left = weight;
  for (std::size_t n = longest; n > 0; --n) {
    worth[n] = left / (count[n] + options_.smoothing);
    left = options_.smoothing * worth[n];
  }
  worth[0] = 0;
  for (std::size_t n = 1; n <= longest; ++n) worth[n] += worth[n - 1];

  if (base.probabilities != scratch.data()) scratch.resize(static_cast<std::size_t>(base.size));
  double* const row = scratch.data();
  for (Token id = 0; id < base.size; ++id) row[id] = (1 - weight) * base.probabilities[id];
  for (const PastOccurrence& occurrence : found) row[occurrence.follower] += worth[occurrence.match];
  const double each = left / static_cast<double>(text.size());
  for (const Token token : text) row[token] += each;
  return {row, base.size};
}

}  // namespace speclab
