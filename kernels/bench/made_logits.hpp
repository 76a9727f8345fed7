// Logits made up for measurements: a bell of target logits, and the same with noise for the draft. Every
// logit has an address, so that the host, the emulator and the GPU agree on it to the bit.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/random/philox.hpp"

namespace speclab {

struct MadeLogits {
  std::uint64_t seed = 1;
  float spread = 3;  ///< standard deviation of the target's logits
  float noise = 0;   ///< standard deviation of what the draft's differ by
};

/// A sum of four 16-bit uniforms with mean 0 and variance 1; within 3.47 of 0.
SPECLAB_HD inline float bell_of(std::uint64_t word) {
  std::int32_t sum = -2 * 0xffff;
  for (unsigned shift = 0; shift < 64; shift += 16) {
    sum += static_cast<std::int32_t>((word >> shift) & 0xffffU);
  }
  constexpr float deviation = 37837.227F;  // sqrt(4 (2^32 - 1) / 12)
  return static_cast<float>(sum) / deviation;
}

/// A row is request * (gamma + 1) + position, for the draft as for the target.
struct MadeLogit {
  float target;
  float draft;
};

SPECLAB_HD inline MadeLogit made_logit(const MadeLogits& how, std::int64_t row, std::int32_t id) {
  Philox stream(how.seed,
                Site{static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(id), Draw{Use::world, 0}});
  const float target = how.spread * bell_of(stream());
  return {target, fmaf(how.noise, bell_of(stream()), target)};
}

}  // namespace speclab
