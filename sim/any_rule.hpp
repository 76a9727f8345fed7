// Holds any verification rule as one value (type erasure). The code for a rule is compiled where an AnyRule
// is constructed from it (sim/compiled_rule.hpp), and is called through an interface a few times per round,
// so that code that takes an AnyRule is compiled once for all rules.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <typeinfo>
#include <vector>

#include "core/polymorphic.hpp"
#include "core/random/random_source.hpp"
#include "core/round/round.hpp"
#include "sim/models/model.hpp"

namespace speclab {

class PositionProgram;
struct PositionWeights;

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
class RuleProgram : public Polymorphic {
 public:
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

class AnyRule {
 public:
  /// Compiles the rule, for which the caller's file includes sim/compiled_rule.hpp.
  template <class Rule>
  requires(!std::same_as<Rule, AnyRule>)
      // NOLINTNEXTLINE(google-explicit-constructor): any rule is an AnyRule
      AnyRule(Rule rule);

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
