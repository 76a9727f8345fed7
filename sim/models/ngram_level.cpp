#include "sim/models/ngram_level.hpp"

#include <algorithm>
#include <bit>

namespace speclab {

namespace {

/// Returns the slot where a key's probing starts. The multiplier is that of splitmix64's finaliser; the high
/// bits are the well-mixed ones.
std::size_t home(PackedNgram key, std::size_t slots) {
  constexpr std::uint64_t odd = 0xbf58476d1ce4e5b9U;
  const auto high = static_cast<std::uint64_t>(key >> 64U);
  std::uint64_t word = (static_cast<std::uint64_t>(key) ^ (high * odd)) * odd;
  word = (word ^ (word >> 32U)) * odd;
  return static_cast<std::size_t>(word >> 32U) & (slots - 1);
}

template <class T>
std::size_t held(const std::vector<T>& vector) {
  return vector.capacity() * sizeof(T);
}

}  // namespace

void NgramLevel::index() {
  slots.assign(std::bit_ceil(2 * contexts.size() + 1), 0);
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    std::size_t at = home(contexts[i].key, slots.size());
    while (slots[at] != 0) at = (at + 1) & (slots.size() - 1);
    slots[at] = static_cast<std::uint32_t>(i + 1);
  }
}

const NgramContext* NgramLevel::find(PackedNgram key) const {
  for (std::size_t at = home(key, slots.size()); slots[at] != 0; at = (at + 1) & (slots.size() - 1)) {
    const NgramContext& candidate = contexts[slots[at] - 1];
    if (candidate.key == key) return &candidate;
  }
  return nullptr;
}

const double* NgramLevel::follower(const NgramContext& context, Token token) const {
  const auto first = tokens.begin() + context.first;
  const auto last = first + context.count;
  const auto found = std::lower_bound(first, last, token);
  if (found == last || *found != token) return nullptr;
  return probabilities.data() + (found - tokens.begin());
}

std::size_t NgramLevel::bytes() const {
  return held(contexts) + held(tokens) + held(probabilities) + held(scales) + held(slots);
}

}  // namespace speclab
