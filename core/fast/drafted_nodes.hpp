// What a verification in terms of totals (core/fast/block_verification.hpp and its neighbours) reads of a
// round's drafted tokens, what it asks for on the way, and how it ends.
//
// A rule that reads whole rows reads them through T(G) = sum (p - G q)+ alone, and draws from (p - G q)+ or
// from p. A verification is therefore a program that stops where it needs a total, or a token that was not
// drafted yet: what no verification looks at is never drafted.
//     begin(drafted)           a round's tokens, all of them still undrafted
//     advance(accept)          goes on, and says what it waits for, if anything; `accept(node, probability)`
//                              makes the acceptance draw of a drafted token, at most once a round
//     wanted_drafts(nodes)     appends those that it waits for; it goes on once they are drafted
//     wanted_total(), answer(total)
//     end()                    how the round ends, once it waits for nothing
// Whoever runs it finds the totals: by passes over rows (core/fast/whole_row_round.hpp, which the enumerator
// proves equal to the rules), or of many sequences at once by sorted lists (sim/fast).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/random/philox.hpp"
#include "core/round/tree.hpp"
#include "core/token.hpp"

namespace speclab {

/// In the place of a token that may still be drafted.
inline constexpr Token undrafted_token = -3;

/// Whether something happens too rarely for a random number of 64 bits to show it, so that nothing needs to
/// be known of what follows. In floating point the inverse of such a probability may overflow; exact
/// arithmetic takes nothing but 0 for it.
template <class Real>
bool negligible(const Real& probability) {
  const Real bound = std::is_floating_point_v<Real> ? Real(0x1p-128) : Real(0);
  return !(probability > bound);
}

/// The tokens of a round as a tree, by node; node i of a chain is the token at position i. Siblings that the
/// draft had no probability left for, and nodes deeper than gamma, are `no_token`.
template <class Real>
struct DraftedNodes {
  const DraftTree* shape;
  const Token* tokens;
  const Real* target;  ///< the token's probability in the target's row after its parent
  const Real* draft;   ///< and in the draft's
  /// Sum of the draft's row without the siblings before it; 1 where siblings are independent. A sum, since
  /// the difference to 1 has no digits left where the siblings have nearly all of the row.
  const Real* left;

  bool undrafted(std::int32_t node) const { return tokens[node] == undrafted_token; }
  /// A child of a node (or of the context, -1) that is drafted or may be; -1 when there is none.
  std::int32_t child(std::int32_t node, std::size_t index) const {
    const auto& children = shape->children(node);
    return index < children.size() && tokens[children[index]] != no_token ? children[index] : -1;
  }
  /// p / q of a token; 0 where q is, which no rule accepts.
  Real ratio(std::int32_t node) const {
    return draft[node] > Real(0) ? Real(target[node] / draft[node]) : Real(0);
  }
};

/// What a verification waits for.
enum class Wants : std::uint8_t { nothing, drafts, total };

/// sum (p - scale q)+ over the rows after a node.
template <class Real>
struct WantedTotal {
  std::int32_t node;
  Real scale;
};

/// How a round ends. The next token is drawn from norm((p - scale q)+) in the rows after the node.
template <class Real>
struct RoundEnd {
  std::int32_t node = -1;     ///< the last accepted one; its ancestors are accepted, too
  std::int32_t accepted = 0;  ///< its depth
  std::int32_t examined = 0;
  Use use = Use::bonus;
  Real scale{0};
  Real residual_share{1};     ///< with this probability; else from p
  Token excluded = no_token;  ///< without this token
  Token emitted = no_token;   ///< it is this one instead, if one is named
  bool thinned = false;       ///< from p, kept with the verification's `share`, else drawn again
  bool coupled = false;       ///< instead from p over p/q > t (core/fast/gumbel_verification.hpp), t > scale
};

}  // namespace speclab
