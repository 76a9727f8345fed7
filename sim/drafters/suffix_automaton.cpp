#include "sim/drafters/suffix_automaton.hpp"

#include <algorithm>
#include <cassert>

namespace speclab {

SuffixAutomaton::SuffixAutomaton(std::int32_t depth) : depth_(depth) {
  assert(depth >= 0);
  add_state(0, none);
}

SuffixAutomaton::State SuffixAutomaton::add_state(std::int32_t length, State link) {
  nodes_.push_back({length, link});
  return static_cast<State>(nodes_.size() - 1);
}

std::size_t SuffixAutomaton::slot(State state, Token token) const {
  const std::size_t mask = slots_.size() - 1;
  std::uint64_t hash = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(state)) << 32U) |
                       static_cast<std::uint32_t>(token);
  hash = (hash ^ (hash >> 32U)) * 0x9e3779b97f4a7c15U;
  hash ^= hash >> 32U;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& here = slots_[i];
    if (here.edge == none || (here.state == state && here.token == token)) return i;
  }
}

void SuffixAutomaton::grow() {
  std::vector<Slot> old(std::max<std::size_t>(16, 4 * slots_.size()));
  old.swap(slots_);
  for (const Slot& filled : old) {
    if (filled.edge != none) slots_[slot(filled.state, filled.token)] = filled;
  }
}

std::int32_t SuffixAutomaton::find(State state, Token token) const {
  const std::int32_t first = at(state).first;
  if (first == none || edge_at(first).token == token) return first;
  return edge_at(first).next == none ? none : slots_[slot(state, token)].edge;
}

std::int32_t SuffixAutomaton::add_edge(State state, Token token, State target, std::int32_t count) {
  const auto added = static_cast<std::int32_t>(edges_.size());
  Node& node = at(state);
  if (node.first == none) {
    node.first = added;
    edges_.push_back({token, target, count, none});
    return added;
  }
  edges_.push_back({token, target, count, edge_at(node.first).next});
  edge_at(node.first).next = added;
  if (2 * (used_ + 1) > slots_.size()) grow();
  slots_[slot(state, token)] = {state, token, added};
  ++used_;
  return added;
}

SuffixAutomaton::State SuffixAutomaton::clone(State state, std::int32_t length) {
  const State copy = add_state(length, at(state).link);
  at(copy).total = at(state).total;
  for (std::int32_t i = at(state).first; i != none; i = edge_at(i).next) {
    const Edge original = edge_at(i);
    const std::int32_t added = add_edge(copy, original.token, original.target, original.count);
    if (i == at(state).best) at(copy).best = added;
  }
  return copy;
}

void SuffixAutomaton::extend(Token token) {
  const State fresh = add_state(at(last_).length + 1, root);
  State from = last_;
  std::int32_t found = none;
  for (; from != none; from = at(from).link) {
    found = find(from, token);
    if (found != none) break;
    add_edge(from, token, fresh, 0);
  }
  last_ = fresh;
  if (from == none) return;
  const State known = edge_at(found).target;
  const std::int32_t length = at(from).length + 1;
  if (at(known).length == length) {
    at(fresh).link = known;
    return;
  }
  // The shorter strings of `known` now end in one more place than the longer ones.
  const State shorter = clone(known, length);
  at(known).link = shorter;
  at(fresh).link = shorter;
  for (; from != none; from = at(from).link) {
    const std::int32_t index = find(from, token);
    if (edge_at(index).target != known) break;
    edge_at(index).target = shorter;
  }
}

/// Returns the state that holds the suffix of `length` tokens of a string that `state` holds.
SuffixAutomaton::State SuffixAutomaton::holder(State state, std::int32_t length) const {
  while (state != root && at(at(state).link).length >= length) state = at(state).link;
  return state;
}

void SuffixAutomaton::count(Token token) {
  for (State state = counted_; state != none; state = at(state).link) {
    const std::int32_t index = find(state, token);
    Node& node = at(state);
    ++node.total;
    ++edge_at(index).count;
    if (node.best == none || edge_at(index).count >= edge_at(node.best).count) node.best = index;
  }
  const State next = edge_at(find(counted_, token)).target;
  counted_length_ = std::min(counted_length_ + 1, depth_);
  counted_ = holder(next, counted_length_);
}

void SuffixAutomaton::append(Token token) {
  extend(token);
  count(token);
}

SuffixAutomaton::Match SuffixAutomaton::match(std::int32_t longest) const {
  assert(longest <= depth_);
  if (last_ == root) return {root, 0};
  // The link of the whole text holds the suffixes that also end somewhere else.
  const std::int32_t length = std::min(longest, at(at(last_).link).length);
  return {holder(counted_, length), length};
}

}  // namespace speclab
