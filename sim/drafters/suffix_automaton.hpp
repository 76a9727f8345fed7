// Indexes all substrings of a growing text, and counts the tokens that followed each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/token.hpp"

namespace speclab {

/// The smallest automaton of the text's substrings, built token by token (Blumer et al. 1985). A state is a
/// class of strings that end at the same places: the suffixes of its longest string, down to one token more
/// than the longest string of its link. Each token adds at most two states and three edges, in amortised
/// constant time for any vocabulary. The text has fewer than 2^29 tokens.
///
/// An edge counts how often its token followed the strings of its state. `append` counts the new token on
/// every state that holds a suffix of the text. In a text of one repeated token these would be all states, so
/// `append` follows only suffixes of up to `depth` tokens: at most depth + 2 steps per token, and few on
/// natural text. Counts are exact in every state that holds a string of up to `depth` tokens.
class SuffixAutomaton {
 public:
  using State = std::int32_t;
  static constexpr State root = 0;  ///< the state of the empty string
  static constexpr std::int32_t none = -1;

  struct Edge {
    Token token;
    State target;
    std::int32_t count;
    std::int32_t next;  ///< next edge of the same state; `none` ends the list
  };

  /// Requires depth >= 0.
  explicit SuffixAutomaton(std::int32_t depth);

  void append(Token token);

  /// The longest suffix of the text that also occurs earlier in it, cut to its last `longest` tokens.
  struct Match {
    State state;
    std::int32_t length;
  };
  /// Returns the match. longest <= depth.
  Match match(std::int32_t longest) const;

  /// Returns the edge of a token, or null.
  const Edge* edge(State state, Token token) const {
    const std::int32_t found = find(state, token);
    return found == none ? nullptr : &edge_at(found);
  }
  /// Returns the edge counted most often, among equals the one counted last; null if none was counted.
  const Edge* best(State state) const {
    const std::int32_t found = at(state).best;
    return found == none ? nullptr : &edge_at(found);
  }
  /// Returns how often any token followed: the sum of the counts.
  std::int32_t total(State state) const { return at(state).total; }

  std::size_t states() const { return nodes_.size(); }
  std::size_t edges() const { return edges_.size(); }

 private:
  struct Node {
    std::int32_t length;  // length of its longest string
    State link;
    std::int32_t first = none;
    std::int32_t best = none;
    std::int32_t total = 0;
  };
  struct Slot {
    State state;
    Token token;
    std::int32_t edge = none;
  };

  const Node& at(State state) const { return nodes_[static_cast<std::size_t>(state)]; }
  Node& at(State state) { return nodes_[static_cast<std::size_t>(state)]; }
  const Edge& edge_at(std::int32_t index) const { return edges_[static_cast<std::size_t>(index)]; }
  Edge& edge_at(std::int32_t index) { return edges_[static_cast<std::size_t>(index)]; }

  State add_state(std::int32_t length, State link);
  std::int32_t add_edge(State state, Token token, State target, std::int32_t count);
  State clone(State state, std::int32_t length);
  std::int32_t find(State state, Token token) const;
  std::size_t slot(State state, Token token) const;
  void grow();
  void extend(Token token);
  void count(Token token);
  State holder(State state, std::int32_t length) const;

  std::int32_t depth_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  // Edges other than the first of their state: most states have only one edge, and need no table.
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  State last_ = root;
  // The state that holds the last counted_length_ tokens. After a clone took these over, it holds only longer
  // suffixes of the text, and the clone is its link.
  State counted_ = root;
  std::int32_t counted_length_ = 0;  // min(depth, length of the text)
};

}  // namespace speclab
