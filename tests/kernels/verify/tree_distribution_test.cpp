// Tests the joint distribution of two tokens after verification of trees whose target depends on the token
// before: exactly, by enumeration of core's program, and over many requests in the emulator. A fault is
// planted in each.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/random/enumerated_random_source.hpp"
#include "core/rules/traversal.hpp"
#include "core/rules/tree.hpp"
#include "tests/bounds.hpp"
#include "tests/kernels/verify/tree_logits.hpp"
#include "tests/planned_power.hpp"

using namespace speclab;

namespace {

constexpr std::int32_t law_vocab = 4;
const std::vector<std::int32_t> law_tree{-1, -1, -1, 0, 0, 1};

using LawRow = std::vector<double>;

/// A model whose next token depends on the last one: row 0 at the start, row x + 1 after token x.
struct MarkovRows {
  std::vector<LawRow> rows;

  const LawRow& after(Token token) const { return rows[static_cast<std::size_t>(token + 1)]; }
};

MarkovRows markov_rows(std::uint32_t which) {
  MarkovRows model;
  Philox stream(61, Site{which, 0, Draw{Use::world, 0}});
  for (int row = 0; row <= law_vocab; ++row) {
    LawRow weights(law_vocab);
    for (double& weight : weights) weight = std::exp(3 * open_unit(stream()));
    normalise(weights);
    model.rows.push_back(weights);
  }
  return model;
}

/// A tree of this pair, for `walk_down`.
struct MarkovTree {
  using Real = double;
  const MarkovRows& target_model;
  const MarkovRows& draft_model;
  DraftTree shape{law_tree};
  std::vector<Token> tokens = std::vector<Token>(law_tree.size());

  Token token(std::int32_t node) const { return node < 0 ? -1 : tokens[static_cast<std::size_t>(node)]; }
  Row target(std::int32_t node) const { return {target_model.after(token(node)).data(), law_vocab}; }
  Row draft(std::int32_t node) const { return {draft_model.after(token(node)).data(), law_vocab}; }
  std::span<const std::int32_t> children(std::int32_t node) const { return shape.children(node); }

  template <class Random>
  void draw(Random& random, bool replaced) {
    for (std::int32_t node = 0; node < shape.size(); ++node) {
      const std::int32_t parent = shape.parent(node);
      LawRow left = draft_model.after(token(parent));
      for (const std::int32_t other : shape.children(parent)) {
        if (other < node && !replaced) left[static_cast<std::size_t>(token(other))] = 0;
      }
      tokens[static_cast<std::size_t>(node)] =
          random.categorical(node_draw(Use::draft, node), Row{left.data(), law_vocab});
    }
  }

  /// Returns the first two tokens; if verification emits one, the second is drawn from the target.
  template <class Random>
  std::size_t pair_of(std::int32_t node, Token next, Random& random) const {
    Token first = next;
    Token second = no_token;
    if (node >= 0) {
      const std::int32_t parent = shape.parent(node);
      first = token(parent < 0 ? node : parent);
      second = parent < 0 ? next : token(node);
    } else {
      second = random.categorical({Use::plain, 1}, Row{target_model.after(first).data(), law_vocab});
    }
    return static_cast<std::size_t>(first * law_vocab + second);
  }
};

/// Tests siblings against the target before any refusal: a fault that serving engines had.
struct StaleSiblings : DrawnSiblings<double> {
  OwnedRow<double> whole;

  explicit StaleSiblings(DrawnSiblings<double> fresh)
      : DrawnSiblings<double>(std::move(fresh)), whole(target) {}
  double acceptance_probability(Token token) const {
    return acceptance_ratio(whole[token], draft[token], 1.0);
  }
};

/// Forgets that a refusal lowers the probability of reaching the node.
struct StaleReach : TraversedSiblings<double> {
  void refuse(Token token) {
    const double before = reach;
    TraversedSiblings<double>::refuse(token);
    reach = before;
  }
};

template <class Siblings>
TreeDecision walk_with(MarkovTree& view, auto& random) {
  const auto drawn = [&view](std::int32_t node) {
    return IndependentSiblings<double>{copy_of(view.target(node)), copy_of(view.draft(node))};
  };
  if constexpr (std::is_base_of_v<TraversedSiblings<double>, Siblings>) {
    return traverse(view, random, [&drawn](std::int32_t node, double reach) {
      return Siblings{TraversedSiblings<double>{{drawn(node)}, reach}};
    });
  } else {
    return walk_down(view, random, [&drawn](std::int32_t node) {
      if constexpr (std::is_same_v<Siblings, IndependentSiblings<double>>) {
        return drawn(node);
      } else {
        return Siblings(DrawnSiblings<double>{drawn(node)});
      }
    });
  }
}

template <class Siblings>
LawRow exact_law(const MarkovRows& target, const MarkovRows& draft) {
  constexpr bool replaced = std::is_same_v<Siblings, IndependentSiblings<double>>;
  LawRow law(law_vocab * law_vocab);
  enumerate<double>(
      [&](auto& random) {
        MarkovTree tree{target, draft};
        tree.draw(random, replaced);
        const TreeDecision verdict = walk_with<Siblings>(tree, random);
        return tree.pair_of(verdict.node, verdict.next, random);
      },
      [&](std::size_t pair, double probability) { law[pair] += probability; });
  return law;
}

LawRow plain_law(const MarkovRows& target) {
  LawRow law;
  for (Token first = 0; first < law_vocab; ++first) {
    for (Token second = 0; second < law_vocab; ++second) {
      law.push_back(target.after(-1)[static_cast<std::size_t>(first)] *
                    target.after(first)[static_cast<std::size_t>(second)]);
    }
  }
  return law;
}

/// Trees of the pair in logits; counts the first two tokens of each.
class MarkovBatch : public TreeLogits {
 public:
  MarkovBatch(const MarkovRows& target_model, const MarkovRows& draft_model, Drafting how, std::int32_t count)
      : TreeLogits({.requests = count, .vocab = law_vocab}, law_tree, how, test_seed(62)) {
    for (std::int32_t request = 0; request < count; ++request) {
      MarkovTree tree{target_model, draft_model};
      auto random = source(request);
      tree.draw(random, how == Drafting::independent);
      for (std::int32_t position = 0; position <= batch.gamma; ++position) {
        const Token before = tree.token(position - 1);
        for (Token id = 0; id < law_vocab; ++id) {
          const auto at = static_cast<std::size_t>(id);
          target_logit(request, position, id) = static_cast<float>(std::log(target_model.after(before)[at]));
          if (position == batch.gamma) continue;
          draft_logit(request, position, id) = static_cast<float>(std::log(draft_model.after(before)[at]));
        }
        if (position < batch.gamma) drafted_at(request, position) = tree.token(position);
      }
      trees.push_back(tree);
    }
    store();
  }

  std::vector<std::uint64_t> counts_of_kernel() {
    run();
    std::vector<std::uint64_t> counts(law_vocab * law_vocab);
    for (std::size_t i = 0; i < trees.size(); ++i) {
      auto random = source(static_cast<std::int32_t>(i));
      const auto found = path_of(i);
      ++counts.at(trees[i].pair_of(found.empty() ? -1 : found.back(), next[i], random));
    }
    return counts;
  }

  /// Counts the pairs by core's program with these siblings.
  template <class Siblings>
  std::vector<std::uint64_t> counts_of_walk() {
    std::vector<std::uint64_t> counts(law_vocab * law_vocab);
    for (std::size_t i = 0; i < trees.size(); ++i) {
      auto random = source(static_cast<std::int32_t>(i));
      const TreeDecision verdict = walk_with<Siblings>(trees[i], random);
      ++counts.at(trees[i].pair_of(verdict.node, verdict.next, random));
    }
    return counts;
  }

  std::vector<MarkovTree> trees;

 private:
  SampledRandomSource source(std::int32_t request) const {
    const RandomAddress at = addresses[static_cast<std::size_t>(request)];
    return sampled_random_source(at.seed, at.trial, at.round);
  }
};

double largest_difference(const LawRow& a, const LawRow& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

// Null: two tokens have the target's joint distribution; false alarms at p_value_bound. Pearson's statistic
// and the tails of classes that expect less than ten. Power against a fault (siblings tested against an
// unupdated target; a reach that refusals do not lower): above 1 - 1e-9, planned from that fault's exact
// distribution.
TEST_CASE("two tokens after trees have the target's law exactly, and those of a fault have not") {
  const MarkovRows target = markov_rows(12);
  const MarkovRows draft = markov_rows(13);
  const LawRow law = plain_law(target);
  CHECK(largest_difference(exact_law<StaleSiblings>(target, draft), law) > 1e-3);
  CHECK(largest_difference(exact_law<StaleReach>(target, draft), law) > 1e-3);
  CHECK(largest_difference(exact_law<DrawnSiblings<double>>(target, draft), law) < 1e-12);
  CHECK(largest_difference(exact_law<IndependentSiblings<double>>(target, draft), law) < 1e-12);
  CHECK(largest_difference(exact_law<TraversedSiblings<double>>(target, draft), law) < 1e-12);
  for (const Drafting how : {Drafting::without_replacement, Drafting::traversed, Drafting::independent}) {
    CAPTURE(static_cast<int>(how));
    MarkovBatch batch(target, draft, how, 100);
    batch.counts_of_kernel();
    CHECK(batch.different_from(verify_tree_reference(batch.tree()), 1e-5) == 0);
  }
}

TEST_CASE(
    "long: two tokens after verification of trees are drawn from the target's law, and a fault is found") {
  const MarkovRows target = markov_rows(12);
  const MarkovRows draft = markov_rows(13);
  const LawRow law = plain_law(target);
  const auto p_value = [&](const std::vector<std::uint64_t>& counts, const LawRow& null) {
    return fit_test(counts, null, minimum_expectation_for_power).p();
  };
  const auto check = [&]<class Fault>(Drafting how, std::int32_t count, const Fault*) {
    CAPTURE(static_cast<int>(how));
    MarkovBatch batch(target, draft, how, count);
    CHECK(p_value(batch.counts_of_kernel(), law) > p_value_bound);
    // Each request decides as the definition does.
    CHECK(batch.different_from(verify_tree_reference(batch.tree()), 1e-5) == 0);
    if constexpr (!std::is_same_v<Fault, void>) {
      const LawRow fault = exact_law<Fault>(target, draft);
      const PlannedTest plan = planned_fit_test(law, fault, count, minimum_expectation_for_power);
      CHECK(planned_power(plan, p_value_bound) > 1 - 1e-9);
      const auto of_fault = batch.template counts_of_walk<Fault>();
      CHECK(p_value(of_fault, law) < p_value_bound);
      CHECK(p_value(of_fault, fault) > p_value_bound);
    }
  };
  check(Drafting::without_replacement, 1500, static_cast<const StaleSiblings*>(nullptr));
  check(Drafting::traversed, 1500, static_cast<const StaleReach*>(nullptr));
  check(Drafting::independent, 500, static_cast<const void*>(nullptr));
}
