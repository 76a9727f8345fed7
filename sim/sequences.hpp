// Samples token sequences, for tests of the output distribution and for pictures of single rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/any_rule.hpp"
#include "sim/control.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// One round, for drawing.
struct RoundRecord {
  std::vector<Token> drafted;
  std::int32_t accepted = 0;
  Token next = 0;

  bool corrected() const { return accepted < static_cast<std::int32_t>(drafted.size()); }
};

/// Returns the rounds of one trial until at least `tokens` tokens are emitted. The rule drafts one sequence.
std::vector<RoundRecord> record_rounds(const Model& target, const Model& draft, const AnyRule& rule,
                                       std::int32_t gamma, std::vector<Token> context, std::size_t tokens,
                                       std::uint64_t seed);

/// Fills `out` with the first tokens that speculative decoding emits after the prompt in one trial.
void speculative_sequence(const Model& target, const Model& draft, const AnyRule& rule, std::int32_t gamma,
                          const SimulationSize& simulation, std::uint32_t trial,
                          RoundScratch<double>& scratch, std::span<Token> out);

/// Fills `out` with the first tokens that the target emits without speculation. Its draws use a separate
/// stream (Use::plain), so both samples are independent under one seed.
void plain_sequence(const Model& target, const AnyRule& rule, const SimulationSize& simulation,
                    std::uint32_t trial, RoundScratch<double>& scratch, std::span<Token> out);

/// Returns the first `length` tokens that speculative decoding emits after the prompt, for each trial of
/// `simulation`, whose own length is not used, in parallel; row t of the result starts at t * length. Empty
/// if `control` ended it early; its progress counts sequences.
std::vector<Token> speculative_sequences(const Model& target, const Model& draft, const AnyRule& rule,
                                         std::int32_t gamma, const SimulationSize& simulation,
                                         std::size_t length, const Control& control = {});

/// Returns the first `length` tokens of the target without speculation for each trial, in the same layout.
std::vector<Token> plain_sequences(const Model& target, const AnyRule& rule, const SimulationSize& simulation,
                                   std::size_t length, const Control& control = {});

}  // namespace speclab
