// Sources of chance. A drafter or verifier is a program over two verbs,
//     chance.flip(draw, probability) -> bool       true with that probability
//     chance.pick(draw, weights)     -> Token      with probability proportional to weights
// and is sampled (Philox), injected (given uniforms) or enumerated (core/enumerated_chance.hpp).
#pragma once

#include <concepts>
#include <cstdint>

#include "core/random/philox.hpp"
#include "core/distribution/row.hpp"
#include "core/token.hpp"

namespace speclab {

template <class C, class Weights>
concept ChanceOver = requires(C& chance, Draw draw, const Weights& weights,
                              typename Weights::value_type probability) {
  { chance.flip(draw, probability) } -> std::same_as<bool>;
  { chance.pick(draw, weights) } -> std::same_as<Token>;
};

/// The id where the running total of `weights` first exceeds u * total, for u in [0, 1]. Ids of weight zero
/// are never chosen. Total zero gives `no_token`, a NaN or infinite total gives `invalid_token`. One pass
/// sums fixed blocks, one partial pass reads the block that holds the answer.
template <class Weights>
SPECLAB_HD Token inverse_cdf(const Weights& weights, double u) {
  constexpr std::int32_t max_blocks = 256;
  constexpr std::int32_t min_width = 32;
  const std::int32_t fitting = (weights.size + max_blocks - 1) / max_blocks;
  const std::int32_t width = fitting < min_width ? min_width : (fitting + 7) / 8 * 8;

  double block_mass[max_blocks];
  std::int32_t blocks = 0;
  double total = 0;
  const auto term = [&weights](std::int32_t i) { return weights[i]; };
  for (std::int32_t first = 0; first < weights.size; first += width) {
    const std::int32_t last = first + width < weights.size ? first + width : weights.size;
    block_mass[blocks] = sum_terms<double>(first, last, term);
    total += block_mass[blocks];
    ++blocks;
  }
  if (!(total - total == 0)) return invalid_token;
  if (!(total > 0)) return no_token;

  const double goal = u * total;
  double below = 0;
  std::int32_t block = 0;
  while (block + 1 < blocks && !(below + block_mass[block] > goal)) below += block_mass[block++];

  const std::int32_t first = block * width;
  const std::int32_t last = first + width < weights.size ? first + width : weights.size;
  for (std::int32_t i = first; i < last; ++i) {
    const double mass = weights[i];
    if (!(mass > 0)) continue;
    below += mass;
    if (below > goal) return i;
  }
  // Rounding, or u = 1, can leave the goal at the end of the block: the last id with mass stands in for it.
  Token id = last - 1;
  while (id > 0 && !(weights[id] > 0)) --id;
  return id;
}

/// Chance driven by uniforms in [0, 1], one per draw: `uniforms(draw) -> double`. The comparison is strict,
/// so an event of probability 0 never happens, not even at u = 0.
template <class Uniforms>
class UniformChance {
 public:
  SPECLAB_HD explicit UniformChance(Uniforms uniforms) : uniforms_(uniforms) {}

  SPECLAB_HD bool flip(Draw draw, double probability) { return uniforms_(draw) < probability; }

  template <class Weights>
  SPECLAB_HD Token pick(Draw draw, const Weights& weights) {
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

/// The simulator's chance: addressed by (seed, trial, round).
using SampledChance = UniformChance<RoundUniforms>;

SPECLAB_HD inline SampledChance sampled_chance(std::uint64_t seed, std::uint32_t trial, std::uint32_t round) {
  return SampledChance(RoundUniforms{seed, trial, round});
}

}  // namespace speclab
