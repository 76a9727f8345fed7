// Speculative decoding at a cost that does not grow with the vocabulary, for the pairs and rules that allow
// it. The same distribution as sim/decode.hpp, by other random numbers: core/fast/fast_round.hpp and
// core/fast/whole_row_round.hpp are the programs it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/rules/lenience.hpp"
#include "core/rules/token.hpp"
#include "sim/any_rule.hpp"
#include "sim/control.hpp"
#include "sim/fast/fast_decoder.hpp"
#include "sim/fast/interleaved.hpp"
#include "sim/fast/prepared_pair.hpp"
#include "sim/models/model.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// The rules that read two probabilities alone.
using PointwiseRules = std::variant<TokenRule, LenienceRule>;
std::optional<PointwiseRules> pointwise_rule(const AnyRule& rule);

/// Why this pair and rule cannot be decoded so, as the end of a sentence; empty when they can, as far as can
/// be told without preparing them.
std::optional<std::string> fast_unsupported_reason(const Model& target, const Model& draft,
                                                   const AnyRule& rule);

/// The same of any pair: what the rule alone says.
std::optional<std::string> fast_unsupported_reason(const AnyRule& rule);

/// The same where either model is neither of stored rows nor of n-grams, or they are not of one kind.
inline constexpr std::string_view other_pair_reason =
    "it takes two models of stored rows, or two n-gram models: at a temperature of 0.1 and more, or both through "
    "top-k or top-p";

/// The same of tables of so many bytes.
std::optional<std::string> memory_reason(double bytes);

/// Whether preparing the pair costs less than what decoding `simulation` plainly would: a matter of sizes
/// alone.
bool fast_pays(const Model& target, const Model& draft, const SimulationSize& simulation);

/// What pairs for several rules share while they are in use (sim/fast/shared_rows.hpp).
class SharedRows;
std::shared_ptr<SharedRows> make_shared_rows();

/// A pair prepared for a rule. The models must outlive it.
class FastPair {
 public:
  /// `fast_unsupported_reason` is empty. Throws ModelError for n-gram models that turn out not to be mixtures
  /// of their orders.
  FastPair(const Model& target, const Model& draft, const AnyRule& rule);
  /// The same, sharing what does not depend on the rule.
  FastPair(const Model& target, const Model& draft, const AnyRule& rule, SharedRows& rows);
  FastPair(const Model&& target, const Model& draft, const AnyRule& rule) = delete;
  FastPair(const Model& target, const Model&& draft, const AnyRule& rule) = delete;
  FastPair(const Model&& target, const Model&& draft, const AnyRule& rule) = delete;

  /// plan.trials sequences of plan.length rounds, as decode_speculatively. The tally's overlaps are the
  /// rule's acceptance rates, or for `match`, and over n-grams for rules that decide position by position,
  /// the acceptance probability of one token drafted in that context each, whose mean is the same. The result
  /// does not depend on `streams`, threads or instruction set.
  Outcome decode(std::int32_t gamma, const SimulationSize& simulation, const Control& control = {},
                 std::size_t streams = default_streams) const {
    return decoder_->decode(gamma, simulation, control, streams);
  }

  /// The tables of a pointwise rule over stored rows, which a GPU can decode, too; else null.
  const PreparedPair* stored() const { return stored_; }
  /// What those were prepared for.
  const PointwiseRules& stored_rule() const { return *rule_; }

  std::size_t bytes() const { return decoder_->bytes(); }
  std::size_t contexts() const { return decoder_->contexts(); }

 private:
  void prepare(const Model& target, const Model& draft, const AnyRule& rule, SharedRows& rows);

  std::optional<PointwiseRules> rule_;
  std::unique_ptr<const FastDecoder> decoder_;
  const PreparedPair* stored_ = nullptr;
};

}  // namespace speclab
