// Computes, for each position of the output, whether a draft made there, after the true text before it, would
// be accepted. With token verification this is one bit per position, and the bits determine the accepted
// tokens of every schedule that drafts one sequence. All schedules read the same bits, for paired
// comparisons.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random/philox.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

class AnyRule;
class Model;

/// One bit per position: 1 where a draft would be accepted.
using AcceptanceBits = std::vector<std::uint8_t>;

/// First slots of the streams' draws. Slot 0 of Use::iid belongs to i.i.d. rounds; rounds of fewer than
/// 0x4000 drafted tokens do not reach `pair_stream_slot`. Further streams of acceptance draws use the slots
/// that follow.
inline constexpr std::uint16_t iid_stream_slot = 1;
inline constexpr std::uint16_t pair_stream_slot = 0x4000;

/// Acceptance draws with one probability: draw n is word n of the random stream at (trial, slot).
class BernoulliStream {
 public:
  BernoulliStream(std::uint64_t seed, std::uint32_t trial, std::uint16_t slot, double alpha)
      : words_(seed, Site{trial, 0, Draw{Use::iid, slot}}), alpha_(alpha) {}

  bool bernoulli() { return open_unit(words_()) < alpha_; }

 private:
  Philox words_;
  double alpha_;
};

/// Returns independent acceptances of probability alpha.
AcceptanceBits iid_acceptances(double alpha, std::uint64_t seed, std::uint32_t trial, std::size_t positions);

/// Returns the acceptances of a pair of models along one sequence. At each position a token is drawn from the
/// draft's row, and the rule's acceptance draw for it gives the bit. The token or its replacement extends the
/// text, which therefore has the target's distribution if the rule is lossless. The rule must accept or
/// replace. `text`, if given, receives the tokens.
AcceptanceBits pair_acceptances(const Model& target, const Model& draft, const AnyRule& rule,
                                const SimulationSize& simulation, std::uint32_t trial, std::size_t positions,
                                std::vector<Token>* text = nullptr);

/// The acceptances of one sequence. Drafts after the last bit are rejected, so that every schedule
/// terminates: give more bits than tokens.
struct Acceptances {
  std::span<const std::uint8_t> bits;
  std::uint64_t tokens = 0;  ///< a schedule ends with the round in which it has emitted this many
  std::uint64_t seed = 1;    ///< seed of further acceptance draws, with `trial`
  std::uint32_t trial = 0;

  /// Returns the number of consecutive accepted drafts from position `at` on, at most `most`.
  std::uint64_t leading(std::uint64_t at, std::uint64_t most) const {
    const std::uint64_t end =
        at + std::min<std::uint64_t>(most, bits.size() - std::min<std::uint64_t>(at, bits.size()));
    std::uint64_t position = at;
    while (position < end && bits[position] != 0) ++position;
    return position - at;
  }
};

}  // namespace speclab
