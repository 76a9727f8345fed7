// The interface between a verification that needs no dense rows (core/fast/*_verification.hpp) and its
// caller: the drafted tokens of a round, the verification's requests, and its result.
//
// A rule that reads all V probabilities of a row reads them only through sums T(G) = sum (p - G q)+, here
// called totals, and draws from (p - G q)+ or from p. A verification is therefore a program that stops
// whenever it needs a total, or a token that is not drafted yet. Tokens that no verification reads are never
// drafted.
//     begin(drafted)           gives it a round's tokens, all of them still undrafted
//     advance(accept)          continues, and returns what it waits for, if anything; `accept(node, probability)`
//                              makes the acceptance draw of a drafted token, at most once a round
//     wanted_drafts(nodes)     appends the nodes that it waits for; it continues once they are drafted
//     wanted_total(), answer(total)
//     end()                    returns the end of the round, once it waits for nothing
// The caller computes the totals: by passes over rows (tests/core/fast/whole_row_round.hpp, which the
// enumerator proves equal to the rules), or for many sequences at once by sorted lists (sim/fast).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/random/philox.hpp"
#include "core/round/tree.hpp"
#include "core/token.hpp"

namespace speclab {

/// Marks a token that may still be drafted.
inline constexpr Token undrafted_token = -3;

/// Returns whether an event is too rare for a 64-bit random number to produce, so that its consequences need
/// not be computed. (In floating point the inverse of such a probability may overflow.) In exact arithmetic
/// only 0 is negligible.
template <class Real>
bool negligible(const Real& probability) {
  const Real bound = std::is_floating_point_v<Real> ? Real(0x1p-128) : Real(0);
  return !(probability > bound);
}

/// The tokens of a round as a tree, by node; node i of a chain is the token at position i. `no_token` marks
/// siblings for which the draft had no probability left, and nodes deeper than gamma.
template <class Real>
struct DraftedNodes {
  const DraftTree* shape;
  const Token* tokens;
  const Real* target;  ///< the token's probability in the target's row after its parent
  const Real* draft;   ///< the token's probability in the draft's row after its parent
  /// Sum of the draft's row without the siblings before the token; 1 if siblings are independent. It is a sum
  /// and not 1 minus the siblings, which would lose all digits if they have nearly all probability.
  const Real* left;

  bool undrafted(std::int32_t node) const { return tokens[node] == undrafted_token; }
  /// Returns a child of a node (-1: the context) that is drafted or can still be; -1 if there is none.
  std::int32_t child(std::int32_t node, std::size_t index) const {
    const auto& children = shape->children(node);
    return index < children.size() && tokens[children[index]] != no_token ? children[index] : -1;
  }
  /// Returns p / q of a token; 0 where q is 0, which no rule accepts.
  Real ratio(std::int32_t node) const {
    return draft[node] > Real(0) ? Real(target[node] / draft[node]) : Real(0);
  }
};

/// The request that a verification waits for.
enum class Wants : std::uint8_t { nothing, drafts, total };

/// A request for sum (p - scale q)+ over the rows after a node.
template <class Real>
struct WantedTotal {
  std::int32_t node;
  Real scale;
};

/// The end of a round. The next token is drawn from norm((p - scale q)+) in the rows after the node.
template <class Real>
struct RoundEnd {
  std::int32_t node = -1;     ///< the last accepted node; its ancestors are accepted, too
  std::int32_t accepted = 0;  ///< depth of the node
  std::int32_t examined = 0;
  Use use = Use::bonus;
  Real scale{0};
  /// Probability of drawing from the residual; otherwise the token is drawn from p.
  Real residual_share{1};
  Token excluded = no_token;  ///< this token is not drawn
  Token emitted = no_token;   ///< if set, this token is emitted and none is drawn
  bool thinned = false;       ///< a draw from p is kept with the verification's `share`, or else repeated
  /// Draws from p over p/q > t (core/fast/gumbel_verification.hpp), with t > scale.
  bool coupled = false;
};

}  // namespace speclab
