// Speculative decoding at a cost that does not grow with the vocabulary, for the pairs and rules that allow
// it. The same distribution as sim/decode.hpp, by other random numbers: core/fast/fast_round.hpp is the
// program it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "sim/any_rule.hpp"
#include "sim/control.hpp"
#include "sim/fast/interleaved.hpp"
#include "sim/fast/ngram_table.hpp"
#include "sim/fast/prepared_pair.hpp"
#include "sim/models/model.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// Why this pair and rule cannot be decoded so, as the end of a sentence; empty when they can, as far as can
/// be told without preparing them.
std::optional<std::string> fast_unsupported_reason(const Model& target, const Model& draft,
                                                   const AnyRule& rule);

/// Whether preparing the pair costs less than what decoding `simulation` plainly would: a matter of sizes
/// alone.
bool fast_pays(const Model& target, const Model& draft, const SimulationSize& simulation);

/// A pair prepared for a rule. The models must outlive it.
class FastPair {
 public:
  /// `fast_unsupported_reason` is empty. Throws ModelError for n-gram models that turn out not to be mixtures
  /// of their orders.
  FastPair(const Model& target, const Model& draft, const AnyRule& rule);
  FastPair(const Model&& target, const Model& draft, const AnyRule& rule) = delete;
  FastPair(const Model& target, const Model&& draft, const AnyRule& rule) = delete;
  FastPair(const Model&& target, const Model&& draft, const AnyRule& rule) = delete;

  /// simulation.trials sequences of simulation.length rounds, as decode_speculatively. The tally's overlaps
  /// are the rule's acceptance rates for stored tables; for n-grams each is the acceptance probability of one
  /// token drafted in that context, whose mean is the same. The result does not depend on `streams`, threads
  /// or instruction set.
  Outcome decode(std::int32_t gamma, const SimulationSize& simulation, const Control& control = {},
                 std::size_t streams = default_streams) const;

  /// The prepared tables, when both models are stored ones; what they were prepared for.
  const PreparedPair* stored() const { return std::get_if<PreparedPair>(&table_); }
  const std::variant<TokenRule, LenienceRule>& rule() const { return rule_; }

  std::size_t bytes() const;
  std::size_t contexts() const;

 private:
  std::variant<TokenRule, LenienceRule> rule_;
  std::variant<PreparedPair, NgramTable> table_;
};

}  // namespace speclab
