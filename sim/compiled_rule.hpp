// Compiles a rule into the program of an AnyRule. Only files that make an AnyRule include this, because it
// brings every kind of round along.
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>

#include "core/round/paths_round.hpp"
#include "core/round/tree_round.hpp"
#include "core/rules/position_rules.hpp"
#include "sim/any_rule.hpp"
#include "sim/position_program.hpp"

namespace speclab {

/// Rules that draft one sequence of tokens.
template <class Rule>
concept ChainRule = !PathsRule<Rule> && !AnyTreeRule<Rule>;

namespace detail {

template <class Rule>
[[noreturn]] void throw_not_of(const char* what) {
  throw std::logic_error(std::string(typeid(Rule).name()) + " does not " + what);
}

template <class Rule>
class RuleProgramOf final : public RuleProgram {
 public:
  explicit RuleProgramOf(Rule rule) : rule_(std::move(rule)) {}

  Round round(const Model& target, const Model& draft, std::int32_t gamma, std::vector<Token>& context,
              SampledRandomSource& random, RoundScratch<double>& scratch, RoundWatch watch) const override {
    // Measured here so that the rule's acceptance rate is inlined.
    const auto measured = [&](std::span<const Token> prefix, Row target_row, const Row* draft_row) {
      if (std::vector<double>* rates = watch.rates()) {
        rates->push_back(RuleProgramOf::context_acceptance(
            target_row, draft_row != nullptr ? *draft_row : draft.next(prefix, scratch.extra_row)));
      } else {
        watch(prefix, target_row, draft_row);
      }
    };
    return speculative_round(target, draft, rule_, gamma, context, random, scratch, measured);
  }

  Round drafted_round([[maybe_unused]] const Model& target, [[maybe_unused]] DraftingRef drafting,
                      [[maybe_unused]] std::vector<Token>& context,
                      [[maybe_unused]] SampledRandomSource& random,
                      [[maybe_unused]] RoundScratch<double>& scratch,
                      [[maybe_unused]] RoundWatch watch) const override {
    if constexpr (ChainRule<Rule>) {
      return speclab::drafted_round(target, drafting, rule_, context, random, scratch, watch);
    } else {
      throw_not_of<Rule>("draft one sequence");
    }
  }

  double context_acceptance(Row target, Row draft) const override {
    if constexpr (requires { rule_.acceptance_rate(target, draft); })
      return rule_.acceptance_rate(target, draft);
    return overlap(target, draft);
  }

  bool has_acceptance_rate() const override {
    return requires(const Rule& rule, const Row& row) { rule.acceptance_rate(row, row); };
  }
  bool takes_argmax() const override {
    return requires(const Rule& rule, const Row& row) { rule.plain(row); };
  }

  Token plain_token(Row target, SampledRandomSource& random) const override {
    return random.categorical(Draw{Use::plain, 0}, plain_weights(rule_, target));
  }

  std::int32_t first_drafts(std::int32_t gamma) const override {
    if (gamma == 0) return 0;
    if constexpr (PathsRule<Rule>) return rule_.paths;
    if constexpr (GrowingRule<Rule>) return std::min(rule_.branching, rule_.nodes);
    if constexpr (requires { rule_.tree->size(); })
      return static_cast<std::int32_t>(rule_.tree->children(-1).size());
    return 1;
  }

  bool one_draft() const override { return ChainRule<Rule>; }
  bool decides_by_position() const override { return PositionRule<Rule>; }
  bool accepts_or_replaces() const override { return AcceptanceRule<Rule>; }
  bool said_by_position() const override { return RuleSaidByPosition<Rule>; }

  PositionOutcome decide([[maybe_unused]] Token drafted, [[maybe_unused]] Row target,
                         [[maybe_unused]] Row draft, [[maybe_unused]] std::uint16_t slot,
                         [[maybe_unused]] SampledRandomSource& random) const override {
    if constexpr (AcceptanceRule<Rule>) {
      if (random.bernoulli(Draw{Use::accept, slot},
                           static_cast<double>(rule_.acceptance(drafted, target, draft))))
        return {true, drafted};
      return {false,
              categorical_or(random, Draw{Use::replace, slot}, rule_.replacement(target, draft), target)};
    } else {
      throw_not_of<Rule>("accept or replace one token");
    }
  }

  Row emitted_distribution([[maybe_unused]] Row target, [[maybe_unused]] Row draft,
                           [[maybe_unused]] QualityScratch& scratch) const override {
    if constexpr (other_replaces) {
      scratch.distribution.resize(static_cast<std::size_t>(target.size));
      const auto accepted = [&](Token id) { return rule_.acceptance_probability(target[id], draft[id]); };
      // The weight with which a rejected token is replaced by each other one, per unit of p.
      const auto given_up = [&](Token id) {
        return target[id] < 1 ? draft[id] * (1 - accepted(id)) / (1 - target[id]) : 0;
      };
      const double total = sum_terms<double>(0, target.size, given_up);
      for (Token id = 0; id < target.size; ++id) {
        scratch.distribution[static_cast<std::size_t>(id)] =
            draft[id] * accepted(id) + target[id] * (total - given_up(id));
      }
      return {scratch.distribution.data(), target.size};
    } else if constexpr (AcceptanceRule<Rule>) {
      const auto size = static_cast<std::size_t>(target.size);
      scratch.distribution.resize(size);
      scratch.replacement.resize(size);
      const auto acceptance = acceptances_of(rule_, target, draft);
      const auto weights = rule_.replacement(target, draft);
      for (std::size_t i = 0; i < size; ++i) {
        const auto id = static_cast<Token>(i);
        scratch.distribution[i] = draft[id] > 0 ? draft[id] * acceptance(id) : draft[id];
        scratch.replacement[i] = weights[id];
      }
      const Row emitted{scratch.distribution.data(), target.size};
      Row instead{scratch.replacement.data(), target.size};
      const double accepted = total_probability(emitted);
      double total = total_probability(instead);
      if (total == 0) total = total_probability(instead = target);
      const double scale = (accepted < 1 ? 1 - accepted : 0) / total;
      for (std::size_t i = 0; i < size; ++i)
        scratch.distribution[i] += scale * instead[static_cast<Token>(i)];
      return emitted;
    } else {
      throw_not_of<Rule>("accept or replace one token");
    }
  }

  double acceptance([[maybe_unused]] Token token, [[maybe_unused]] Row target,
                    [[maybe_unused]] Row draft) const override {
    if constexpr (AcceptanceRule<Rule>) {
      return static_cast<double>(rule_.acceptance(token, target, draft));
    } else {
      throw_not_of<Rule>("accept or replace one token");
    }
  }
  void position_weights([[maybe_unused]] Row target, [[maybe_unused]] Row draft,
                        [[maybe_unused]] PositionWeights& weights) const override {
    if constexpr (AcceptanceRule<Rule>) {
      fill_position_weights(rule_, target, draft, weights);
    } else {
      throw_not_of<Rule>("accept or replace one token");
    }
  }

  std::shared_ptr<const PositionProgram> position_program() const override {
    if constexpr (PositionForm<Rule>) return std::make_shared<const PositionProgramOf<Rule>>(rule_);
    return nullptr;
  }

  const void* held(const std::type_info& type) const override {
    return type == typeid(Rule) ? &rule_ : nullptr;
  }

 private:
  static constexpr bool other_replaces = requires { requires Rule::correction == Correction::another; };

  Rule rule_;
};

}  // namespace detail

template <class Rule>
requires(!std::same_as<Rule, AnyRule>) AnyRule::AnyRule(Rule rule)
    : program_(std::make_shared<const detail::RuleProgramOf<Rule>>(std::move(rule))) {}

}  // namespace speclab
