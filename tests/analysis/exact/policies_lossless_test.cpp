// Exact tests: over several rounds the output has the target's distribution for policies that decide by rows,
// drafted tokens or earlier rounds; a policy that drops a token because of its value breaks this.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "analysis/exact/rational.hpp"
#include "analysis/exact/round_distribution.hpp"
#include "sim/drafters/hierarchical.hpp"
#include "sim/policies/adaedl.hpp"
#include "sim/policies/bandit.hpp"
#include "sim/policies/confidence.hpp"
#include "sim/policies/fixed.hpp"
#include "sim/policies/goodput.hpp"
#include "sim/policies/heuristic.hpp"
#include "sim/policies/specdec_pp.hpp"
#include "tests/core/rules/all_rules.hpp"

using namespace speclab;

namespace {

using Q = Rational;
using Table = ExactTable<Q>;

const Table target({{Q(1, 5), Q(4, 5)}, {Q(5, 7), Q(2, 7)}});
const Table draft({{Q(2, 3), Q(1, 3)}, {Q(1, 9), Q(8, 9)}});
const Q half(1, 2);
const Table small({{Q(1, 4), Q(3, 4)}});

struct TableDrafter {
  struct Memory {};
  const Table* model;
  std::int32_t vocab() const { return model->vocab(); }
  void read(Memory&, std::span<const Token>) const {}
  BasicRow<Q> propose(Memory&, std::span<const Token> context, std::int32_t, std::vector<Q>& storage) const {
    return model->next(context, storage);
  }
  std::int32_t runs(std::int32_t drafted) const { return drafted; }
};

/// Proposes the token before last, if there is one, and only once.
struct EchoDrafter {
  struct Memory {};
  std::int32_t vocab() const { return 2; }
  void read(Memory&, std::span<const Token>) const {}
  BasicRow<Q> propose(Memory&, std::span<const Token> context, std::int32_t position,
                      std::vector<Q>& storage) const {
    if (context.size() < 2 || position > 0) return {};
    storage.assign(2, Q(0));
    storage[static_cast<std::size_t>(context[context.size() - 2])] = Q(1);
    return {storage.data(), 2};
  }
  std::int32_t runs(std::int32_t) const { return 0; }
};

/// Planted fault: keeps drafting, but takes back a token that it does not like.
struct DroppingDrafter : TableDrafter {
  template <class Random>
  void extend(Memory& memory, std::vector<Token>& context, Random& random, RoundScratch<Q>& scratch,
              Drafted& done) const {
    const auto at = static_cast<std::size_t>(done.count);
    scratch.reserve(at + 1, 0);
    scratch.drafts[at] = propose(memory, context, done.count, scratch.draft_rows[at]);
    const Token token =
        random.categorical(Draw{Use::draft, static_cast<std::uint16_t>(done.count)}, scratch.drafts[at]);
    if (scratch.drafts[at][token] < half) return;
    context.push_back(token);
    ++done.count;
  }
};

/// Returns the distribution of the first `length` tokens over as many rounds as needed, including memories.
template <class Drafter, class Policy, class Rule>
SequenceDistribution<Q> decoded_distribution(const Drafter& drafter, const Policy& policy, const Rule& rule,
                                             std::size_t length) {
  const auto program = [&](EnumeratedRandomSource<Q>& random) {
    std::vector<Token> context;
    typename Drafter::Memory memory{};
    typename Policy::Memory learned;
    RoundScratch<Q> scratch;
    const AdaptiveDrafting<Drafter, Policy> drafting{drafter, memory, policy, learned};
    while (context.size() < length) {
      random.next_round();
      policy.learn(learned, drafted_round(target, drafting, rule, context, random, scratch, NoWatch{}));
    }
    context.resize(length);
    return context;
  };
  SequenceDistribution<Q> distribution;
  enumerate<Q>(program, [&](const std::vector<Token>& tokens, const Q& probability) {
    distribution[tokens] += probability;
  });
  return distribution;
}

template <class Drafter, class Policy, class Rule = TokenRule>
Q distance(const Drafter& drafter, const Policy& policy, std::size_t length = 4, const Rule& rule = {}) {
  return distribution_distance(decoded_distribution(drafter, policy, rule, length),
                               plain_distribution<Q>(target, {}, length, rule));
}

const RoundTimes times{{1, 1.2, 1.4, 1.6}};

}  // namespace

TEST_CASE("every policy leaves the distribution of a token, to the last digit") {
  const TableDrafter drafter{&draft};
  CHECK(distance(drafter, FixedPolicy(2)) == 0);
  CHECK(distance(drafter, HeuristicPolicy(1, 3)) == 0);
  CHECK(distance(drafter, ConfidencePolicy(0.5, Confidence::drawn, 3)) == 0);
  CHECK(distance(drafter, ConfidencePolicy(0.7, Confidence::top, 3)) == 0);
  CHECK(distance(drafter, AdaEdlPolicy(0.5, 0.5, 3)) == 0);
  CHECK(distance(drafter, SpecDecPpPolicy(0.3, 3)) == 0);
  CHECK(distance(drafter, GoodputPolicy(times, 3)) == 0);
  CHECK(distance(drafter, BanditPolicy(times, 3, 1)) == 0);
  CHECK(distance(drafter, UpperBoundPolicy(3)) == 0);
}

TEST_CASE("and block verification goes with stopping early, too") {
  const TableDrafter drafter{&draft};
  CHECK(distance(drafter, ConfidencePolicy(0.5, Confidence::drawn, 3), 4, BlockRule{}) == 0);
  CHECK(distance(drafter, HeuristicPolicy(1, 3), 4, BlockRule{}) == 0);
}

TEST_CASE("drafters that have nothing to offer, or are drafted for themselves") {
  CHECK(distance(EchoDrafter{}, FixedPolicy(2)) == 0);
  const HierarchicalDrafter<Table, TableDrafter, Q> two(draft, TableDrafter{&small}, 1);
  CHECK(distance(two, FixedPolicy(1), 3) == 0);
  CHECK(distance(two, HeuristicPolicy(1, 2), 3) == 0);
  const HierarchicalDrafter<Table, EchoDrafter, Q> echo(draft, EchoDrafter{}, 2);
  CHECK(distance(echo, FixedPolicy(2), 4) == 0);
}

TEST_CASE("planted fault: a policy that drops a token it has seen is refuted") {
  CHECK(distance(DroppingDrafter{{&draft}}, FixedPolicy(2), 3) > Q(1, 20));
}

TEST_CASE("a hierarchy of three levels, counted") {
  using Two = HierarchicalDrafter<Table, TableDrafter, Q>;
  const HierarchicalDrafter<Table, Two, Q> three(draft, Two(small, TableDrafter{&small}, 1), 1);
  CHECK(distance(three, FixedPolicy(1), 2) == 0);

  // The draft equals its middle model and is always accepted: one run of the middle model gives gamma + 1
  // tokens.
  const Two equal(small, TableDrafter{&small}, 2);
  Two::Memory memory;
  std::vector<Token> context;
  RoundScratch<Q> scratch;
  std::uint64_t leaves = 0;
  enumerate<Q>(
      [&](EnumeratedRandomSource<Q>& random) {
        context.clear();
        Drafted done;
        equal.read(memory, context);
        equal.extend(memory, context, random, scratch, done);
        return done;
      },
      [&](const Drafted& done, const Q&) {
        CHECK(done.count == 3);
        CHECK(done.runs == 1);
        CHECK(done.inner_runs[0] == 2);
        ++leaves;
      });
  CHECK(leaves == 8);
}
