// Tests recursive rejection and traversal verification in four numbers against their definitions by rows, in
// exact fractions.
#include "core/rules/sibling_residual.hpp"

#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <span>
#include <vector>

#include "core/random/enumerated_random_source.hpp"
#include "core/rules/traversal.hpp"
#include "core/rules/tree.hpp"

using namespace speclab;

namespace {

using Fraction = boost::multiprecision::cpp_rational;

/// Returns a random row of fractions, some of them zero.
std::vector<Fraction> fraction_row(Philox& stream, std::size_t vocab) {
  std::vector<Fraction> row(vocab);
  for (Fraction& probability : row)
    probability = static_cast<int>(stream() % 8) * static_cast<int>(stream() % 2);
  row[stream() % vocab] += 1;
  normalise(row);
  return row;
}

/// A node whose children have these tokens, as a walk sees it; after each child the target is the same.
struct Star {
  using Real = Fraction;
  const std::vector<Fraction>& target_row;
  const std::vector<Fraction>& draft_row;
  std::vector<Token> tokens;
  std::vector<std::int32_t> numbers;

  BasicRow<Fraction> target(std::int32_t) const { return {target_row.data(), 4}; }
  BasicRow<Fraction> draft(std::int32_t) const { return {draft_row.data(), 4}; }
  Token token(std::int32_t node) const { return tokens[static_cast<std::size_t>(node)]; }
  std::span<const std::int32_t> children(std::int32_t node) const {
    return std::span(numbers).first(node < 0 ? numbers.size() : 0);
  }
};

template <class Siblings>
Siblings siblings_of(const std::vector<Fraction>& p, const std::vector<Fraction>& q) {
  Siblings siblings{OwnedRow<Fraction>(p), OwnedRow<Fraction>(q)};
  return siblings;
}

/// Rejects siblings as long as possible and returns their number. Checks that both forms agree on the
/// residual, and on the acceptance probability of any token.
template <class Siblings>
int agreeing_refusals(Siblings rows, SiblingResidual<Fraction> numbers, bool replaced, Philox& stream) {
  const std::vector<Fraction> p = rows.target.probabilities;
  const std::vector<Fraction> q = rows.draft.probabilities;
  std::vector<bool> refused(p.size());
  int refusals = 0;
  for (int trial = 0; trial < 6; ++trial) {
    const auto size = static_cast<Token>(p.size());
    for (Token id = 0; id < size; ++id) {
      const auto at = static_cast<std::size_t>(id);
      const Fraction over = p[at] - numbers.taken * q[at];
      const Fraction left = over > 0 ? Fraction(over / numbers.left) : Fraction(0);
      CHECK(rows.target[id] * numbers.reach == left);
      if (q[at] > 0 && (replaced || !refused[at])) {
        CHECK(rows.acceptance_probability(id) == numbers.acceptance_probability(Fraction(p[at] / q[at])));
      }
    }
    // The token must be one that can be rejected; the draft may have probability for it or not.
    const Token token = static_cast<Token>(stream() % p.size());
    if (rows.acceptance_probability(token) == 1) continue;
    const auto at = static_cast<std::size_t>(token);
    Fraction total(0);
    for (std::size_t id = 0; id < p.size(); ++id) {
      const Fraction over = p[id] - numbers.taken_next() * q[id];
      if (over > 0) total += over;
    }
    const bool lost = replaced || refused[at];
    const Fraction left = rows.refuse(token);
    const Fraction reach = numbers.reach;
    CHECK((left > 0 || reach < 1) == numbers.refuse(total, lost ? Fraction(0) : q[at]));
    if constexpr (requires { rows.reach; }) {
      CHECK(numbers.reach == rows.reach);
      if (reach == 1) CHECK(numbers.reach == 1);
      // From here on nothing is accepted.
      if (numbers.reach == 0) return refusals + 1;
    } else {
      CHECK(numbers.reach == 1);
    }
    refused[at] = true;
    ++refusals;
  }
  return refusals;
}

/// Returns the distribution of the first token emitted after three siblings were drawn from q.
template <class Siblings>
std::vector<Fraction> emitted(const std::vector<Fraction>& p, const std::vector<Fraction>& q, bool replaced) {
  std::vector<Fraction> law(p.size());
  enumerate<Fraction>(
      [&](auto& random) {
        Star star{p, q, {}, {}};
        std::vector<Fraction> left = q;
        for (std::int32_t node = 0; node < 3; ++node) {
          const Token token =
              random.categorical(node_draw(Use::draft, node), BasicRow<Fraction>{left.data(), 4});
          if (token < 0) break;
          star.tokens.push_back(token);
          star.numbers.push_back(node);
          if (!replaced) left[static_cast<std::size_t>(token)] = 0;
        }
        const TreeDecision verdict =
            walk_down(star, random, [&](std::int32_t) { return siblings_of<Siblings>(p, q); });
        return verdict.node < 0 ? verdict.next : star.token(verdict.node);
      },
      [&](Token token, const Fraction& probability) { law[static_cast<std::size_t>(token)] += probability; });
  return law;
}

}  // namespace

TEST_CASE("what is left after refusals is (p - G q)+, exactly, with and without replacement") {
  Philox stream(51, Site{0, 0, Draw{Use::world, 0}});
  int refusals = 0;
  for (int pair = 0; pair < 300; ++pair) {
    const auto p = fraction_row(stream, 5);
    const auto q = pair % 10 == 0 ? p : fraction_row(stream, 5);
    const auto drawn = siblings_of<DrawnSiblings<Fraction>>(p, q);
    refusals += agreeing_refusals(drawn, SiblingResidual<Fraction>{}, false, stream);
    refusals += agreeing_refusals(siblings_of<IndependentSiblings<Fraction>>(p, q),
                                  SiblingResidual<Fraction>{}, true, stream);
  }
  CHECK(refusals > 1000);
}

TEST_CASE("what traversal leaves of a node, and how far it is reached, are as exact") {
  Philox stream(53, Site{0, 0, Draw{Use::world, 0}});
  int refusals = 0;
  int kept = 0;
  for (int pair = 0; pair < 600; ++pair) {
    const auto p = fraction_row(stream, 5);
    const auto q = pair % 10 == 0 ? p : fraction_row(stream, 5);
    // The reach is 1 in a quarter of the nodes.
    const Fraction reach = Fraction(static_cast<int>(stream() % 12) + 1) / 12;
    const Fraction reached = pair % 4 == 0 ? Fraction(1) : reach;
    const TraversedSiblings<Fraction> rows{siblings_of<DrawnSiblings<Fraction>>(p, q), reached};
    const int here = agreeing_refusals(rows, SiblingResidual<Fraction>::reached(reached), false, stream);
    refusals += here;
    kept += here > 1 ? 1 : 0;
  }
  CHECK(refusals > 600);
  CHECK(kept > 100);
}

TEST_CASE("siblings drawn either way leave the target's distribution, and the other way they do not") {
  Philox stream(52, Site{0, 0, Draw{Use::world, 0}});
  for (int pair = 0; pair < 5; ++pair) {
    const auto p = fraction_row(stream, 4);
    const auto q = fraction_row(stream, 4);
    CHECK(emitted<DrawnSiblings<Fraction>>(p, q, false) == p);
    CHECK(emitted<IndependentSiblings<Fraction>>(p, q, true) == p);
  }
  const std::vector<Fraction> p{Fraction(2, 5), Fraction(2, 5), Fraction(1, 10), Fraction(1, 10)};
  const std::vector<Fraction> q{Fraction(1, 10), Fraction(1, 5), Fraction(2, 5), Fraction(3, 10)};
  CHECK(emitted<DrawnSiblings<Fraction>>(p, q, true) != p);
  CHECK(emitted<IndependentSiblings<Fraction>>(p, q, false) != p);
}
