#include "sim/drafters/aligned_copy.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace speclab {

namespace {

bool less(std::span<const Token> a, std::span<const Token> b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

AlignedCopy::AlignedCopy(std::int32_t vocab, const AlignedCopyOptions& options)
    : options_(options), points_(vocab) {
  assert(options.match >= 1 && options.length >= 0);
}

void AlignedCopy::begin(Memory& memory, std::span<const Token> prompt) const {
  memory.source = prompt.size();
  memory.read = prompt.size();
  const auto match = static_cast<std::size_t>(options_.match);
  if (prompt.size() < match) return;
  memory.places.resize(prompt.size() - match + 1);
  std::iota(memory.places.begin(), memory.places.end(), match);
  std::stable_sort(memory.places.begin(), memory.places.end(), [&](std::size_t a, std::size_t b) {
    return less(prompt.subspan(a - match, match), prompt.subspan(b - match, match));
  });
}

/// Searches for an alignment. `context` ends with the output token that broke the alignment, or with a later
/// one.
void AlignedCopy::realign(Memory& memory, std::span<const Token> context) const {
  const auto match = static_cast<std::size_t>(options_.match);
  memory.aligned = false;
  if (context.size() - *memory.source < match) return;
  const auto tokens_before = [&](std::size_t place) { return context.subspan(place - match, match); };
  const std::span<const Token> sought = context.last(match);
  const auto first =
      std::lower_bound(memory.places.begin(), memory.places.end(), sought,
                       [&](std::size_t place, auto tokens) { return less(tokens_before(place), tokens); });
  const auto last = std::upper_bound(first, memory.places.end(), sought, [&](auto tokens, std::size_t place) {
    return less(tokens, tokens_before(place));
  });
  if (options_.realign == Realign::unique) {
    if (last - first != 1) return;
    memory.at = *first;
  } else {
    const auto near = std::lower_bound(first, last, memory.at);
    if (near == last) return;
    memory.at = *near;
  }
  memory.aligned = true;
}

void AlignedCopy::read(Memory& memory, std::span<const Token> context) const {
  assert(context.size() >= memory.read);
  if (!memory.source) begin(memory, context);
  while (memory.read < context.size()) {
    const Token token = context[memory.read];
    ++memory.read;
    if (memory.aligned && memory.at < *memory.source && context[memory.at] == token) {
      ++memory.at;
    } else {
      realign(memory, context.first(memory.read));
    }
  }
}

Row AlignedCopy::propose(Memory& memory, std::span<const Token> context, std::int32_t position,
                         std::vector<double>&) const {
  const std::size_t place = memory.at + static_cast<std::size_t>(position);
  if (!memory.source || !memory.aligned || place >= *memory.source) return {};
  if (options_.length > 0 && position >= options_.length) return {};
  return points_[context[place]];
}

}  // namespace speclab
