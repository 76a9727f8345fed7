// What a schedule of drafting and verification needs to know about two models: for each position of the
// output, whether a draft made there, after the true text before it, would be accepted. With token
// verification that is one bit a position, and it settles what every schedule of one drafted sequence does.
// All schedules read the same bits, so that they compare pair by pair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random/philox.hpp"
#include "sim/any_rule.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// One bit a position: 1 where a draft would be accepted.
using AcceptanceBits = std::vector<std::uint8_t>;

/// Which draws are a stream's own: not those of i.i.d. rounds (slot 0 of Use::iid), nor those of rounds of
/// up to so many drafted tokens. Further streams of acceptance draws follow in slots of their own.
inline constexpr std::uint16_t iid_stream_slot = 1;
inline constexpr std::uint16_t pair_stream_slot = 0x4000;

/// Acceptance draws of one probability, one after the other: acceptance draw n is word n of the stream at
/// trial and `slot`.
class BernoulliStream {
 public:
  BernoulliStream(std::uint64_t seed, std::uint32_t trial, std::uint16_t slot, double alpha)
      : words_(seed, Site{trial, 0, Draw{Use::iid, slot}}), alpha_(alpha) {}

  bool bernoulli() { return open_unit(words_()) < alpha_; }

 private:
  Philox words_;
  double alpha_;
};

/// Independent acceptances of probability alpha.
AcceptanceBits iid_acceptances(double alpha, std::uint64_t seed, std::uint32_t trial, std::size_t positions);

/// Acceptances of a pair of models along one sequence: at each position a token is drawn from the draft's
/// row, and the rule's acceptance draw for it is the bit; the token or its replacement is what the next
/// position follows (so that the text has the target's distribution if the rule is lossless). A rule that
/// accepts or replaces. `text`, where given, receives the tokens.
AcceptanceBits pair_acceptances(const Model& target, const Model& draft, const AnyRule& rule,
                                const SimulationSize& simulation, std::uint32_t trial, std::size_t positions,
                                std::vector<Token>* text = nullptr);

/// One sequence as schedules read it. Beyond the last bit every draft is rejected, so that a schedule without
/// an end of its own comes to one: give more bits than tokens.
struct Acceptances {
  std::span<const std::uint8_t> bits;
  std::uint64_t tokens = 0;  ///< a schedule ends with the round in which it has emitted so many
  std::uint64_t seed = 1;    ///< of further acceptance draws, with `trial`
  std::uint32_t trial = 0;

  /// How many drafts in a row are accepted from position `at` on, counted up to `most`.
  std::uint64_t leading(std::uint64_t at, std::uint64_t most) const {
    const std::uint64_t end =
        at + std::min<std::uint64_t>(most, bits.size() - std::min<std::uint64_t>(at, bits.size()));
    std::uint64_t position = at;
    while (position < end && bits[position] != 0) ++position;
    return position - at;
  }
};

}  // namespace speclab
