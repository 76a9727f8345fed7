#include "sim/drafters/suffix_drafter.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace speclab {

SuffixDrafter::SuffixDrafter(std::int32_t vocab, const SuffixOptions& options)
    : options_(options), points_(vocab) {
  assert(1 <= options.min_match && options.min_match <= options.max_match);
  assert(options.length >= 0 && options.factor >= 0);
  assert(0 <= options.min_probability && options.min_probability <= 1);
}

void SuffixDrafter::read(Memory& memory, std::span<const Token> context) const {
  assert(context.size() >= memory.read);
  if (!memory.text) memory.text.emplace(options_.max_match + options_.length);
  for (const Token token : context.subspan(memory.read)) memory.text->append(token);
  memory.read = context.size();
}

void SuffixDrafter::start(Memory& memory) const {
  const SuffixAutomaton::Match match = memory.text->match(options_.max_match);
  const double by_match = std::floor(options_.factor * match.length);
  memory.drafted = 0;
  memory.state = match.state;
  memory.probability = 1;
  memory.most = match.length < options_.min_match
                    ? 0
                    : static_cast<std::int32_t>(std::min<double>(options_.length, by_match));
}

Row SuffixDrafter::propose(Memory& memory, std::span<const Token> context, std::int32_t position,
                           std::vector<double>&) const {
  if (!memory.text) return {};
  assert(context.size() == memory.read + static_cast<std::size_t>(position));
  const SuffixAutomaton& text = *memory.text;
  if (position == 0) {
    start(memory);
  } else if (position == memory.drafted + 1 && position < memory.most) {
    const SuffixAutomaton::Edge* const edge = text.edge(memory.state, context.back());
    memory.drafted = position;
    if (edge == nullptr) {
      memory.most = 0;
    } else {
      memory.probability *= static_cast<double>(edge->count) / text.total(memory.state);
      memory.state = edge->target;
    }
  }
  if (position >= memory.most) return {};

  const SuffixAutomaton::Edge* const best = text.best(memory.state);
  if (best == nullptr) return {};
  const double share = best->count / static_cast<double>(text.total(memory.state));
  if (memory.probability * share < options_.min_probability) return {};
  return points_[best->token];
}

}  // namespace speclab
