// Random numbers of a round that is played within another one.
#pragma once

#include <cassert>
#include <cstdint>

#include "core/random/random_source.hpp"
#include "core/round/round.hpp"

namespace speclab {

/// A random source for a round within a round: the same operations at addresses of their own. Nesting it
/// again gives the same type one level further down.
template <class Random>
class NestedChance {
 public:
  static constexpr std::uint32_t most_rounds = 128;  ///< within one round of the level above

  NestedChance(Random& outermost, std::uint32_t number) : NestedChance(outermost, 1, number) {
    assert(number < most_rounds);
  }
  NestedChance deeper(std::uint32_t number) const {
    assert(number < most_rounds && depth_ < most_inner_levels);
    return NestedChance(outermost_, depth_ + 1, path_ * most_rounds + number);
  }

  template <class Real>
  bool flip(Draw draw, const Real& probability) {
    return outermost_.flip(moved(draw), probability);
  }
  template <class Weights>
  Token pick(Draw draw, const Weights& weights) {
    return outermost_.pick(moved(draw), weights);
  }

 private:
  static constexpr std::uint32_t slots_of_a_level = 4096;

  NestedChance(Random& outermost, std::uint32_t depth, std::uint32_t path)
      : outermost_(outermost), depth_(depth), path_(path) {}

  Draw moved(Draw draw) const {
    assert(draw.slot < slots_of_a_level && draw.attempt == 0);
    return {draw.use, static_cast<std::uint16_t>(draw.slot + depth_ * slots_of_a_level), path_};
  }

  Random& outermost_;
  std::uint32_t depth_;
  std::uint32_t path_;  ///< numbers of the rounds that this one lies in, one digit a level
};

template <class Random>
NestedChance<Random> nested_chance(Random& random, std::uint32_t number) {
  return NestedChance<Random>(random, number);
}
template <class Random>
NestedChance<Random> nested_chance(NestedChance<Random>& random, std::uint32_t number) {
  return random.deeper(number);
}

}  // namespace speclab
