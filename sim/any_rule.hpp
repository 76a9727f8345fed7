// Holds any verification rule as one value (type erasure). The code for a rule is compiled where an AnyRule
// is constructed from it, and is called through an interface a few times per round, so that code that takes
// an AnyRule is compiled once for all rules.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <typeinfo>
#include <utility>
#include <vector>

#include "core/random/random_source.hpp"
#include "core/round/paths_round.hpp"
#include "core/round/round.hpp"
#include "core/round/tree_round.hpp"
#include "core/rules/position_rules.hpp"
#include "sim/models/model.hpp"
#include "sim/position_program.hpp"

namespace speclab {

/// Rules that draft one sequence of tokens.
template <class Rule>
concept ChainRule = !PathsRule<Rule> && !AnyTreeRule<Rule>;

/// A reference to a Drafting of any type (core/round/round.hpp), which must outlive it.
class DraftingRef {
 public:
  template <class Drafting>
  explicit DraftingRef(const Drafting& drafting)
      : drafting_(&drafting),
        call_([](const void* object, std::vector<Token>& context, SampledRandomSource& random,
                 RoundScratch<double>& scratch) {
          return (*static_cast<const Drafting*>(object))(context, random, scratch);
        }) {}

  Drafted operator()(std::vector<Token>& context, SampledRandomSource& random,
                     RoundScratch<double>& scratch) const {
    return call_(drafting_, context, random, scratch);
  }

 private:
  const void* drafting_;
  Drafted (*call_)(const void*, std::vector<Token>&, SampledRandomSource&, RoundScratch<double>&);
};

/// Selects what a caller observes of a round: nothing; the rows, by a watch of any type
/// (core/round/round.hpp), held by reference; or the acceptance rates.
class RoundWatch {
 public:
  RoundWatch() = default;
  /// Appends to `rates` the acceptance rate (RuleProgram::context_acceptance) of each context that a token
  /// was emitted from; at the bonus position this runs the draft once more. Only for rounds drafted by a
  /// model.
  static RoundWatch acceptance_rates(std::vector<double>& rates) {
    RoundWatch made;
    made.rates_ = &rates;
    return made;
  }
  template <class Watch>
  requires(!std::same_as<Watch, RoundWatch>) explicit RoundWatch(const Watch& watch)
      : watch_(&watch),
        call_([](const void* object, std::span<const Token> prefix, Row target, const Row* draft) {
          (*static_cast<const Watch*>(object))(prefix, target, draft);
        }) {}

  void operator()(std::span<const Token> prefix, Row target, const Row* draft) const {
    if (call_ != nullptr) call_(watch_, prefix, target, draft);
  }
  std::vector<double>* rates() const { return rates_; }

 private:
  const void* watch_ = nullptr;
  void (*call_)(const void*, std::span<const Token>, Row, const Row*) = nullptr;
  std::vector<double>* rates_ = nullptr;
};

/// The decision of a rule about one drafted token.
struct PositionOutcome {
  bool accepted;
  Token token;  ///< the drafted token or its replacement; not an id if a row was invalid
};

/// Scratch rows of `RuleProgram::emitted_distribution` and its callers.
struct QualityScratch {
  std::vector<double> distribution;
  std::vector<double> replacement;
  std::vector<double> wanted;
};

/// The functions that are compiled for one rule. All may be called from several threads.
class RuleProgram {
 public:
  RuleProgram() = default;
  RuleProgram(const RuleProgram&) = delete;
  RuleProgram& operator=(const RuleProgram&) = delete;
  virtual ~RuleProgram() = default;

  /// Runs one round drafted by a model: speculative_round of core/round/round.
  virtual Round round(const Model& target, const Model& draft, std::int32_t gamma,
                      std::vector<Token>& context, SampledRandomSource& random, RoundScratch<double>& scratch,
                      RoundWatch watch) const = 0;
  /// Runs one round of any drafting: drafted_round of core/round/round. Throws std::logic_error unless
  /// `one_draft`.
  virtual Round drafted_round(const Model& target, DraftingRef drafting, std::vector<Token>& context,
                              SampledRandomSource& random, RoundScratch<double>& scratch,
                              RoundWatch watch) const = 0;

  /// Returns the acceptance rate in one context. For rules without one (blocks, several drafts, trees)
  /// returns the overlap, the acceptance rate of token verification.
  virtual double context_acceptance(Row target, Row draft) const = 0;
  virtual bool has_acceptance_rate() const = 0;
  /// Returns whether the rule itself takes the argmax at temperature 0. It then needs the probabilities
  /// before temperature 0 turns them into 0 and 1.
  virtual bool takes_argmax() const = 0;
  /// Draws a token from this row as decoding without speculation does (plain_weights of
  /// core/round/verify.hpp).
  virtual Token plain_token(Row target, SampledRandomSource& random) const = 0;
  /// Returns the number of tokens drafted at the first position of a round: 0 if gamma is 0, 1 for rules of
  /// one draft.
  virtual std::int32_t first_drafts(std::int32_t gamma) const = 0;

  /// Returns whether the rule drafts one sequence of tokens.
  virtual bool one_draft() const = 0;
  /// Returns whether the rule decides about one draft, position by position (PositionRule).
  virtual bool decides_by_position() const = 0;
  /// Returns whether these decisions accept with some probability or else replace the token (AcceptanceRule).
  virtual bool accepts_or_replaces() const = 0;
  /// Returns whether these decisions describe a round completely (RuleSaidByPosition).
  virtual bool said_by_position() const = 0;

  /// Decides about one drafted token, with random numbers of this slot. Throws std::logic_error unless the
  /// rule accepts or replaces.
  virtual PositionOutcome decide(Token drafted, Row target, Row draft, std::uint16_t slot,
                                 SampledRandomSource& random) const = 0;
  /// Returns the distribution of the token that is emitted at an examined position,
  ///     q(x) a(x) + (1 - sum q a) r(x)
  /// where a are the acceptance probabilities and r is the normalised replacement; for Correction::another r
  /// lacks the rejected token. The row views `scratch`. Throws as `decide`, but not for Correction::another.
  virtual Row emitted_distribution(Row target, Row draft, QualityScratch& scratch) const = 0;

  /// Returns the probability of accepting a token, and all weights of the rule in a context. Both throw as
  /// `decide`.
  virtual double acceptance(Token token, Row target, Row draft) const = 0;
  virtual void position_weights(Row target, Row draft, PositionWeights& weights) const = 0;

  /// Returns the rule as a ByPosition rule (core/rules/by_position.hpp); null if it is not one.
  virtual std::shared_ptr<const PositionProgram> position_program() const = 0;

  /// Returns the rule if it is of exactly this type, else null.
  virtual const void* held(const std::type_info& type) const = 0;
};

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
    if constexpr (requires { rule_.acceptance_rate(target, draft); }) {
      return rule_.acceptance_rate(target, draft);
    } else {
      return overlap(target, draft);
    }
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
    if constexpr (PathsRule<Rule>) {
      return rule_.paths;
    } else if constexpr (GrowingRule<Rule>) {
      return std::min(rule_.branching, rule_.nodes);
    } else if constexpr (AnyTreeRule<Rule>) {
      return static_cast<std::int32_t>(rule_.tree->children(-1).size());
    } else {
      return 1;
    }
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
    if constexpr (PositionForm<Rule>) {
      return std::make_shared<const PositionProgramOf<Rule>>(rule_);
    } else {
      return nullptr;
    }
  }

  const void* held(const std::type_info& type) const override {
    return type == typeid(Rule) ? &rule_ : nullptr;
  }

 private:
  static constexpr bool other_replaces = requires { requires Rule::correction == Correction::another; };

  Rule rule_;
};

}  // namespace detail

class AnyRule {
 public:
  template <class Rule>
  requires(!std::same_as<Rule, AnyRule>)
      // NOLINTNEXTLINE(google-explicit-constructor): any rule is an AnyRule
      AnyRule(Rule rule)
      : program_(std::make_shared<const detail::RuleProgramOf<Rule>>(std::move(rule))) {}

  const RuleProgram* operator->() const { return program_.get(); }

  /// Returns the rule if it is of exactly this type, else null.
  template <class Rule>
  const Rule* get_if() const {
    return static_cast<const Rule*>(program_->held(typeid(Rule)));
  }

 private:
  std::shared_ptr<const RuleProgram> program_;
};

}  // namespace speclab
