// Random numbers of a round within another round (sim/drafters/hierarchical.hpp).
#pragma once

#include <cassert>
#include <cstdint>

#include "core/random/random_source.hpp"

namespace speclab {

/// A random source for a round within a round: the same operations at different addresses. Nesting it again
/// gives the same type one level further down.
template <class Random>
class NestedRandomSource {
 public:
  static constexpr std::uint32_t max_rounds = 128;  ///< in one round of the level above

  NestedRandomSource(Random& outermost, std::uint32_t number) : NestedRandomSource(outermost, 1, number) {
    assert(number < max_rounds);
  }
  NestedRandomSource deeper(std::uint32_t number) const {
    assert(number < max_rounds && depth_ < max_inner_levels);
    return NestedRandomSource(outermost_, depth_ + 1, path_ * max_rounds + number);
  }

  template <class Real>
  bool bernoulli(Draw draw, const Real& probability) {
    return outermost_.bernoulli(moved(draw), probability);
  }
  template <class Weights>
  Token categorical(Draw draw, const Weights& weights) {
    return outermost_.categorical(moved(draw), weights);
  }

 private:
  static constexpr std::uint32_t slots_of_a_level = 4096;

  NestedRandomSource(Random& outermost, std::uint32_t depth, std::uint32_t path)
      : outermost_(outermost), depth_(depth), path_(path) {}

  Draw moved(Draw draw) const {
    assert(draw.slot < slots_of_a_level && draw.attempt == 0);
    return {draw.use, static_cast<std::uint16_t>(draw.slot + depth_ * slots_of_a_level), path_};
  }

  Random& outermost_;
  std::uint32_t depth_;
  std::uint32_t path_;  ///< indices of the enclosing rounds, one digit per level
};

template <class Random>
NestedRandomSource<Random> nested_random_source(Random& random, std::uint32_t number) {
  return NestedRandomSource<Random>(random, number);
}
template <class Random>
NestedRandomSource<Random> nested_random_source(NestedRandomSource<Random>& random, std::uint32_t number) {
  return random.deeper(number);
}

}  // namespace speclab
