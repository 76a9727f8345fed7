// The functions compiled for each enumerable rule.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "analysis/exact/context_chain.hpp"
#include "analysis/exact/drafting.hpp"
#include "analysis/exact/enumerable_rule.hpp"
#include "analysis/exact/model_ref.hpp"
#include "analysis/exact/rational.hpp"
#include "analysis/theory/optimal_acceptance.hpp"
#include "core/polymorphic.hpp"
#include "core/random/enumerated_random_source.hpp"
#include "core/round/paths_round.hpp"
#include "core/round/round.hpp"
#include "core/round/tree_round.hpp"
#include "core/rules/position_rules.hpp"

namespace speclab {

class EnumerationProgram : public Polymorphic {
 public:
  /// Runs one branch of a round: speculative_round of core/round.
  virtual Round round(ModelRef<double> target, ModelRef<double> draft, std::int32_t gamma,
                      std::vector<Token>& context, EnumeratedRandomSource<double>& random,
                      RoundScratch<double>& scratch) const = 0;
  virtual Round round(ModelRef<Rational> target, ModelRef<Rational> draft, std::int32_t gamma,
                      std::vector<Token>& context, EnumeratedRandomSource<Rational>& random,
                      RoundScratch<Rational>& scratch) const = 0;

  /// Returns the weights of a token without speculation (plain_weights of core/round/verify.hpp).
  virtual std::vector<double> plain(BasicRow<double> target) const = 0;
  virtual std::vector<Rational> plain(BasicRow<Rational> target) const = 0;

  /// Returns the largest acceptance at the first position for candidates drawn as the rule draws them; none
  /// if the vocabulary is too large for the search that siblings without replacement need.
  virtual std::optional<double> best_acceptance(BasicRow<double> target, BasicRow<double> draft) const = 0;
  virtual std::optional<Rational> best_acceptance(BasicRow<Rational> target,
                                                  BasicRow<Rational> draft) const = 0;

  /// Returns an upper bound on the branches of one round, from the largest supports of the draft's and the
  /// target's rows.
  virtual double branch_bound(std::int32_t gamma, std::size_t draft_support,
                              std::size_t target_support) const = 0;

  /// Returns how the rule's tokens are drafted; none if the shape depends on the draft's rows.
  virtual std::optional<Drafting> drafting() const = 0;

  /// Returns whether the rule decides about one draft, position by position (PositionRule).
  virtual bool decides_by_position() const = 0;
  /// Calls describe_position of analysis/exact/context_chain.hpp. Throws std::logic_error unless the rule
  /// decides by position.
  virtual void describe_position(Row target, Row draft, PositionDistribution& distribution) const = 0;
};

namespace detail {

template <class Rule>
class EnumerationProgramOf final : public EnumerationProgram {
 public:
  explicit EnumerationProgramOf(Rule rule) : rule_(std::move(rule)) {}

  Round round(ModelRef<double> target, ModelRef<double> draft, std::int32_t gamma,
              std::vector<Token>& context, EnumeratedRandomSource<double>& random,
              RoundScratch<double>& scratch) const override {
    return speculative_round(target, draft, rule_, gamma, context, random, scratch, NoWatch{});
  }
  Round round(ModelRef<Rational> target, ModelRef<Rational> draft, std::int32_t gamma,
              std::vector<Token>& context, EnumeratedRandomSource<Rational>& random,
              RoundScratch<Rational>& scratch) const override {
    return speculative_round(target, draft, rule_, gamma, context, random, scratch, NoWatch{});
  }

  std::vector<double> plain(BasicRow<double> target) const override { return plain_of(target); }
  std::vector<Rational> plain(BasicRow<Rational> target) const override { return plain_of(target); }

  std::optional<double> best_acceptance(BasicRow<double> target, BasicRow<double> draft) const override {
    return best_of(target, draft);
  }
  std::optional<Rational> best_acceptance(BasicRow<Rational> target,
                                          BasicRow<Rational> draft) const override {
    return best_of(target, draft);
  }

  double branch_bound(std::int32_t gamma, std::size_t draft_support,
                      std::size_t target_support) const override {
    const auto emitted = static_cast<double>(target_support);
    if constexpr (PathsRule<Rule>) {
      // Outcomes are the path accepted at each position, or the position of the rejection; a rule may make
      // one more draw to choose a path first.
      double outcomes = 0;
      double ways = 1;
      for (std::int32_t i = 0; i <= gamma; ++i, ways *= std::max(rule_.paths, 2)) outcomes += 2 * ways;
      return std::pow(static_cast<double>(draft_support), rule_.paths * gamma) * outcomes * emitted;
    } else if constexpr (GrowingRule<Rule>) {
      return (rule_.nodes + 1) * emitted;
    } else if constexpr (AnyTreeRule<Rule>) {
      return drafted_trees(*rule_.tree, draft_support) * (rule_.tree->size() + 1) * emitted;
    } else {
      const double drafted = std::pow(static_cast<double>(draft_support), gamma);
      const double ends = (gamma + 1) * emitted;
      if constexpr (requires { Rule::substitutes; }) return drafted * ends * std::pow(emitted, gamma);
      return drafted * ends;
    }
  }

  std::optional<Drafting> drafting() const override {
    if constexpr (PathsRule<Rule>) {
      return Drafting{.paths = rule_.paths};
    } else if constexpr (GrowingRule<Rule>) {
      return std::nullopt;
    } else if constexpr (AnyTreeRule<Rule>) {
      return Drafting{.tree = rule_.tree};
    } else {
      return Drafting{};
    }
  }

  bool decides_by_position() const override { return PositionRule<Rule>; }
  void describe_position([[maybe_unused]] Row target, [[maybe_unused]] Row draft,
                         [[maybe_unused]] PositionDistribution& distribution) const override {
    if constexpr (PositionRule<Rule>) {
      speclab::describe_position(rule_, target, draft, distribution);
    } else {
      throw std::logic_error("a rule that reads several positions or drafts at once has no Markov chain");
    }
  }

 private:
  template <class Real>
  std::vector<Real> plain_of(BasicRow<Real> target) const {
    const auto weights = plain_weights(rule_, target);
    std::vector<Real> row;
    row.reserve(static_cast<std::size_t>(weights.size));
    for (Token id = 0; id < weights.size; ++id) row.push_back(weights[id]);
    return row;
  }

  template <class Real>
  std::optional<Real> best_of(BasicRow<Real> target, BasicRow<Real> draft) const {
    if constexpr (requires { rule_.plain(target); }) {
      const std::vector<Real> wanted = plain_of(target);
      return best_for(BasicRow<Real>{wanted.data(), target.size}, draft);
    } else {
      return best_for(target, draft);
    }
  }

  template <class Real>
  std::optional<Real> best_for(BasicRow<Real> target, BasicRow<Real> draft) const {
    if constexpr (PathsRule<Rule>) {
      return optimal_transport_acceptance(target, draft, rule_.paths);
    } else if constexpr (GrowingRule<Rule>) {
      std::vector<Token> best;
      for (Token id = 0; id < draft.size; ++id) {
        if (draft[id] > Real(0)) best.push_back(id);
      }
      std::stable_sort(best.begin(), best.end(), [&](Token a, Token b) { return draft[a] > draft[b]; });
      const auto most = static_cast<std::size_t>(std::min(rule_.branching, rule_.nodes));
      if (best.size() > most) best.resize(most);
      return optimal_acceptance_fixed(target, std::span<const Token>(best));
    } else if constexpr (AnyTreeRule<Rule>) {
      if (target.size > max_searched_vocab) return std::nullopt;
      const auto drafts = static_cast<std::int32_t>(rule_.tree->children(-1).size());
      return optimal_acceptance_without_replacement(target, draft, drafts);
    } else {
      return overlap(target, draft);
    }
  }

  Rule rule_;
};

}  // namespace detail

template <class Rule>
requires(!std::same_as<Rule, EnumerableRule>) EnumerableRule::EnumerableRule(Rule rule)
    : program_(std::make_shared<const detail::EnumerationProgramOf<Rule>>(std::move(rule))) {}

/// These two functions let analysis/exact/round_distribution.hpp treat an EnumerableRule as a rule.
template <class Real, class Target, class Draft>
Round speculative_round(const Target& target, const Draft& draft, const EnumerableRule& rule,
                        std::int32_t gamma, std::vector<Token>& context, EnumeratedRandomSource<Real>& random,
                        RoundScratch<Real>& scratch, const NoWatch&) {
  return rule->round(ModelRef<Real>(target), ModelRef<Real>(draft), gamma, context, random, scratch);
}

template <class Real>
OwnedWeights<Real> plain_weights(const EnumerableRule& rule, BasicRow<Real> target) {
  return {rule->plain(target), target.size};
}

}  // namespace speclab
