// Speculative decoding at a cost that does not grow with the vocabulary, for pairs and rules that allow it.
// Results have the same distribution as those of sim/decode.hpp, but use other random numbers. It runs the
// programs of tests/core/fast/fast_round.hpp and tests/core/fast/whole_row_round.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/polymorphic.hpp"
#include "core/rules/lenience.hpp"
#include "core/rules/token.hpp"
#include "sim/any_rule.hpp"
#include "sim/control.hpp"
#include "sim/fast/interleaved.hpp"
#include "sim/fast/prepared_pair.hpp"
#include "sim/models/model.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// The common interface of pairs of models that are prepared for a rule. The models must outlive it.
class FastDecoder : public Polymorphic {
 public:
  /// Decodes as FastPair::decode does.
  virtual Outcome decode(std::int32_t gamma, const SimulationSize& simulation, const Control& control,
                         std::size_t streams) const = 0;
  virtual std::size_t bytes() const = 0;
  virtual std::size_t contexts() const = 0;
};

/// The rules that read only two probabilities.
using PointwiseRules = std::variant<TokenRule, LenienceRule>;
std::optional<PointwiseRules> pointwise_rule(const AnyRule& rule);

/// Returns the reason why the fast engine cannot run this pair and rule, as the end of a sentence; empty if
/// it can, as far as is known without preparing them.
std::optional<std::string> fast_unsupported_reason(const Model& target, const Model& draft,
                                                   const AnyRule& rule);

/// Returns the reason why the engine cannot run the rule on any pair; empty if there is none.
std::optional<std::string> fast_unsupported_reason(const AnyRule& rule);

/// The reason for a pair in which a model has neither stored rows nor n-grams, or in which the models are of
/// different kinds.
inline constexpr std::string_view other_pair_reason =
    "it needs two models of stored rows, or two n-gram models, either at a temperature of 0.1 or more, or both with top-k or top-p";

/// Returns the reason against tables of this many bytes; empty if they fit.
std::optional<std::string> memory_reason(double bytes);

/// Returns whether preparing the pair costs less than running `simulation` by sim/decode.hpp. It depends on
/// sizes only.
bool fast_pays(const Model& target, const Model& draft, const SimulationSize& simulation);

/// Rows that pairs for several rules share while they are in use (sim/fast/shared_rows.hpp).
class SharedRows;
std::shared_ptr<SharedRows> make_shared_rows();

/// A pair prepared for a rule. The models must outlive it.
class FastPair {
 public:
  /// `fast_unsupported_reason` must be empty. Throws ModelError for n-gram models that NgramTable refuses.
  FastPair(const Model& target, const Model& draft, const AnyRule& rule);
  /// Prepares a pair as above, and shares the parts that do not depend on the rule.
  FastPair(const Model& target, const Model& draft, const AnyRule& rule, SharedRows& rows);
  FastPair(const Model&& target, const Model& draft, const AnyRule& rule) = delete;
  FastPair(const Model& target, const Model&& draft, const AnyRule& rule) = delete;
  FastPair(const Model&& target, const Model&& draft, const AnyRule& rule) = delete;

  /// Decodes plan.trials sequences of plan.length rounds, as decode_speculatively does. The tally's overlaps
  /// are the rule's acceptance rates. For `match`, and over n-grams for rules that decide position by
  /// position, each is the acceptance probability of one token drafted in the context, which has the same
  /// mean. The result does not depend on `streams`, threads or instruction set.
  Outcome decode(std::int32_t gamma, const SimulationSize& simulation, const Control& control = {},
                 std::size_t streams = default_streams) const {
    return decoder_->decode(gamma, simulation, control, streams);
  }

  /// Returns the tables of a pointwise rule over stored rows, which a GPU can also decode; else null.
  const PreparedPair* stored() const { return stored_; }
  const PointwiseRules& stored_rule() const { return *rule_; }

  std::size_t bytes() const { return decoder_->bytes(); }
  std::size_t contexts() const { return decoder_->contexts(); }

 private:
  std::optional<PointwiseRules> rule_;
  std::unique_ptr<const FastDecoder> decoder_;
  const PreparedPair* stored_ = nullptr;
};

}  // namespace speclab
