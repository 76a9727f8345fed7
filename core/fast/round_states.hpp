// A fast round (tests/core/fast/fast_round.hpp) as an automaton, so that a thread can interleave many
// sequences, or a warp can run them side by side. Each step uses one block of random numbers, draws one token
// and makes one acceptance draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/host_device.hpp"
#include "core/random/philox.hpp"

namespace speclab {

/// Returns `yes` if `condition` is 1, `no` if it is 0. Use it for choices that depend on random draws, where
/// a branch would be mispredicted.
SPECLAB_HD inline std::uint32_t select(std::uint32_t condition, std::uint32_t yes, std::uint32_t no) {
  return no ^ ((yes ^ no) & (0U - condition));
}

/// A state of a sequence within its round.
struct RoundState {
  std::uint32_t site;          ///< use and slot, as the second counter word of Philox
  std::uint16_t yes;           ///< next state if the token is emitted
  std::uint16_t no = 0;        ///< next state if it is not
  std::uint16_t accepted = 0;  ///< drafted tokens accepted so far
  std::uint8_t drafting = 0;   ///< 1: draws from the draft
  std::uint8_t replacing = 0;  ///< 1: draws from the residual, or proposes a token for it
  std::uint8_t bonus = 0;      ///< 1: draws from the target, and emits every token drawn
  std::uint8_t probe = 0;      ///< 1: emits nothing
  std::uint8_t ends = 0;       ///< 1: emitting ends the round
};

struct RoundStates {
  std::vector<RoundState> states;
  std::uint16_t start = 0;  ///< state in which a round starts
  std::size_t gamma = 0;
};

/// Returns the states: 0..gamma-1 draft, `gamma` draws the bonus, gamma+1+i replaces draft i. A probe, if
/// wanted, draws one more token from the draft before the bonus: its acceptance probability is a sample of
/// the acceptance rate there, like those of drafted tokens.
inline RoundStates round_states(std::int32_t gamma, bool probe) {
  const auto count = static_cast<std::uint16_t>(gamma);
  const auto probing = static_cast<std::uint16_t>(2 * count + 1);
  const std::uint16_t after_drafts = probe ? probing : count;
  const std::uint16_t start = count > 0 ? std::uint16_t{0} : after_drafts;
  RoundStates all{{}, start, count};
  for (std::uint16_t i = 0; i < count; ++i) {
    const auto next = static_cast<std::uint16_t>(i + 1);
    RoundState state{use_and_slot({Use::draft, i}), next < count ? next : after_drafts};
    state.no = static_cast<std::uint16_t>(count + next);
    state.accepted = i;
    state.drafting = 1;
    all.states.push_back(state);
  }
  RoundState bonus{use_and_slot({Use::bonus, count}), start, count, count};
  bonus.bonus = bonus.ends = 1;
  all.states.push_back(bonus);
  for (std::uint16_t i = 0; i < count; ++i) {
    const auto here = static_cast<std::uint16_t>(count + 1 + i);
    RoundState state{use_and_slot({Use::replace, i}), start, here, i};
    state.replacing = state.ends = 1;
    all.states.push_back(state);
  }
  if (probe) {
    RoundState state{use_and_slot({Use::draft, count}), count, count, count};
    state.drafting = state.probe = 1;
    all.states.push_back(state);
  }
  return all;
}

}  // namespace speclab
