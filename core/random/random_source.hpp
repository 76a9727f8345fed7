// Sources of randomness. A drafter or a rule is a program over two operations,
//     random.bernoulli(draw, probability) -> bool       true with that probability
//     random.categorical(draw, weights)   -> Token      with probability proportional to weights
// which can be sampled (Philox), injected (given uniforms) or enumerated
// (core/random/enumerated_random_source.hpp).
#pragma once

#include <concepts>
#include <cstdint>

#include "core/distribution/row.hpp"
#include "core/random/philox.hpp"
#include "core/token.hpp"

namespace speclab {

template <class C, class Weights>
concept RandomSourceOver = requires(C& random, Draw draw, const Weights& weights,
                                    typename Weights::value_type probability) {
  { random.bernoulli(draw, probability) } -> std::same_as<bool>;
  { random.categorical(draw, weights) } -> std::same_as<Token>;
};

/// Returns the id where the running total of `weights` first exceeds u * total, for u in [0, 1]. An id of
/// weight zero is never chosen. A total of zero gives `no_token`, a NaN or infinite total gives
/// `invalid_token`. One pass sums fixed blocks; a partial pass reads the block that holds the answer.
template <class Weights>
SPECLAB_HD Token inverse_cdf(const Weights& weights, double u) {
  constexpr std::int32_t max_blocks = 256;
  constexpr std::int32_t min_width = 32;
  const std::int32_t fitting = (weights.size + max_blocks - 1) / max_blocks;
  const std::int32_t width = fitting < min_width ? min_width : (fitting + 7) / 8 * 8;

  double block_totals[max_blocks];
  std::int32_t blocks = 0;
  double total = 0;
  const auto term = [&weights](std::int32_t i) { return weights[i]; };
  for (std::int32_t first = 0; first < weights.size; first += width) {
    const std::int32_t last = first + width < weights.size ? first + width : weights.size;
    block_totals[blocks] = sum_terms<double>(first, last, term);
    total += block_totals[blocks];
    ++blocks;
  }
  if (!(total - total == 0)) return invalid_token;
  if (!(total > 0)) return no_token;

  // A subnormal product with u would lose digits, so very small totals are first scaled by a power of 2,
  // which is exact.
  const double lift = total < 0x1p-900 ? 0x1p900 : 1;
  const double goal = u * (total * lift);
  double below = 0;
  std::int32_t block = 0;
  while (block + 1 < blocks && !(below + block_totals[block] * lift > goal))
    below += block_totals[block++] * lift;

  const std::int32_t first = block * width;
  const std::int32_t last = first + width < weights.size ? first + width : weights.size;
  for (std::int32_t i = first; i < last; ++i) {
    const double probability = weights[i] * lift;
    if (!(probability > 0)) continue;
    below += probability;
    if (below > goal) return i;
  }
  // Rounding, or u = 1, can move the goal to the end of the block. Then the last id of positive probability
  // is chosen.
  Token id = last - 1;
  while (id > 0 && !(weights[id] > 0)) --id;
  return id;
}

/// A random source driven by uniforms in [0, 1], one per draw: `uniforms(draw) -> double`. The comparison is
/// strict, so an event of probability 0 never happens, not even at u = 0.
template <class Uniforms>
class UniformRandomSource {
 public:
  SPECLAB_HD explicit UniformRandomSource(Uniforms uniforms) : uniforms_(uniforms) {}

  SPECLAB_HD bool bernoulli(Draw draw, double probability) { return uniforms_(draw) < probability; }

  template <class Weights>
  SPECLAB_HD Token categorical(Draw draw, const Weights& weights) {
    return inverse_cdf(weights, uniforms_(draw));
  }

 private:
  Uniforms uniforms_;
};

/// Philox uniforms of one round of one trial.
struct RoundUniforms {
  std::uint64_t seed;
  std::uint32_t trial;
  std::uint32_t round;

  SPECLAB_HD double operator()(Draw draw) const {
    Philox stream(seed, Site{trial, round, draw});
    return open_unit(stream());
  }
};

/// The simulator's random source: addressed by (seed, trial, round).
using SampledRandomSource = UniformRandomSource<RoundUniforms>;

SPECLAB_HD inline SampledRandomSource sampled_random_source(std::uint64_t seed, std::uint32_t trial,
                                                            std::uint32_t round) {
  return SampledRandomSource(RoundUniforms{seed, trial, round});
}

}  // namespace speclab
