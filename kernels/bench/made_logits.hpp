// Makes up logits for measurements. The target's are approximately normal; the draft's are the target's with
// noise. Every logit has an address, so that the host, the emulator and the GPU agree on it to the bit.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/random/philox.hpp"

namespace speclab {

struct MadeLogits {
  std::uint64_t seed = 1;
  float spread = 3;  ///< standard deviation of the target's logits
  float noise = 0;   ///< standard deviation of the draft's logits minus the target's
};

/// Returns a sum of four 16-bit uniforms, scaled to mean 0 and variance 1; it lies within 3.47 of 0.
SPECLAB_HD inline float bell_of(std::uint64_t word) {
  std::int32_t sum = -2 * 0xffff;
  for (unsigned shift = 0; shift < 64; shift += 16)
    sum += static_cast<std::int32_t>((word >> shift) & 0xffffU);
  constexpr float deviation = 37837.227F;  // sqrt(4 (2^32 - 1) / 12)
  return static_cast<float>(sum) / deviation;
}

/// The logits of one id in row request * (gamma + 1) + position, which numbers the draft's rows and the
/// target's alike.
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
