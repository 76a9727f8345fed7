#include "sim/drafters/lookup.hpp"

#include <algorithm>
#include <cassert>

namespace speclab {

namespace {

/// Calls visit(length, hash) for the suffixes of `text` of 1 to `longest` tokens. The hash of a longer suffix
/// continues that of the shorter one. visit returns whether to continue.
template <class Visit>
void for_each_suffix(std::span<const Token> text, std::size_t longest, const Visit& visit) {
  std::uint64_t hash = 0;
  for (std::size_t length = 1; length <= std::min(longest, text.size()); ++length) {
    hash = (hash + static_cast<std::uint32_t>(text[text.size() - length]) + 1) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
    if (!visit(length, static_cast<std::uint32_t>(hash >> 16U))) return;
  }
}

}  // namespace

std::size_t NgramPlaces::slot(std::uint32_t hash, std::span<const Token> ngram,
                              std::span<const Token> text) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& here = slots_[at];
    if (here.end == 0) return at;
    if (here.hash == hash && std::equal(ngram.rbegin(), ngram.rend(), text.rend() - here.end)) return at;
  }
}

std::size_t NgramPlaces::find(std::uint32_t hash, std::span<const Token> ngram,
                              std::span<const Token> text) const {
  return slots_.empty() ? 0 : slots_[slot(hash, ngram, text)].end;
}

void NgramPlaces::store(std::uint32_t hash, std::size_t length, std::size_t end, Occurrence which,
                        std::span<const Token> text) {
  if (2 * (used_ + 1) > slots_.size()) grow();
  Slot& here = slots_[slot(hash, text.subspan(end - length, length), text)];
  if (here.end != 0 && which == Occurrence::first) return;
  if (here.end == 0) ++used_;
  here = {hash, static_cast<std::uint32_t>(end)};
}

void NgramPlaces::grow() {
  std::vector<Slot> old(std::max<std::size_t>(16, 4 * slots_.size()));
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& filled : old) {
    if (filled.end == 0) continue;
    std::size_t at = filled.hash & mask;
    while (slots_[at].end != 0) at = (at + 1) & mask;
    slots_[at] = filled;
  }
}

LookupDrafter::LookupDrafter(std::int32_t vocab, const LookupOptions& options)
    : options_(options), points_(vocab) {
  assert(1 <= options.min_match && options.min_match <= options.max_match);
  assert(options.length >= 0);
}

void LookupDrafter::read(Memory& memory, std::span<const Token> context) const {
  assert(context.size() >= memory.read);
  const auto shortest = static_cast<std::size_t>(options_.min_match);
  const auto longest = static_cast<std::size_t>(options_.max_match);
  memory.places.resize(longest - shortest + 1);
  // An n-gram is stored once the token after it is known.
  for (std::size_t end = std::max<std::size_t>(memory.read, 1); end < context.size(); ++end) {
    for_each_suffix(context.first(end), longest, [&](std::size_t length, std::uint32_t hash) {
      if (length >= shortest)
        memory.places[length - shortest].store(hash, length, end, options_.occurrence, context);
      return true;
    });
  }
  memory.read = context.size();
}

std::size_t LookupDrafter::longest_match(const Memory& memory, std::span<const Token> settled) const {
  const auto shortest = static_cast<std::size_t>(options_.min_match);
  std::size_t found = 0;
  for_each_suffix(
      settled, static_cast<std::size_t>(options_.max_match), [&](std::size_t length, std::uint32_t hash) {
        if (length < shortest) return true;
        const std::size_t end = memory.places[length - shortest].find(hash, settled.last(length), settled);
        if (end != 0) found = end;
        return end != 0;  // if a suffix does not occur, no longer one does
      });
  return found;
}

Row LookupDrafter::propose(Memory& memory, std::span<const Token> context, std::int32_t position,
                           std::vector<double>&) const {
  const auto ahead = static_cast<std::size_t>(position);
  assert(context.size() == memory.read + ahead);
  if (position == 0) memory.from = memory.places.empty() ? 0 : longest_match(memory, context);
  if (memory.from == 0 || position >= options_.length || memory.from + ahead >= memory.read) return {};
  return points_[context[memory.from + ahead]];
}

}  // namespace speclab
