// Randomness with an address: every number is a function of (seed, site), so threads, batch sizes, shards and
// backends cannot change an answer. Philox4x32-10 (Salmon et al. 2011) from Random123.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"

#if defined(__CUDACC__) && !defined(R123_CUDA_DEVICE)
#define R123_CUDA_DEVICE __host__ __device__
#endif
// Philox uses no vector instructions; without these switches Random123 would add 50,000 lines of them to
// every file.
#ifndef R123_USE_SSE
#define R123_USE_SSE 0
#endif
#ifndef R123_USE_X86INTRIN_H
#define R123_USE_X86INTRIN_H 0
#endif
#include <Random123/philox.h>

namespace speclab {

/// The uses of random numbers. Each use has its own stream: sharing noise between drafting and accepting, or
/// drafting and replacing, changes the output distribution.
enum class Use : std::uint16_t { draft, accept, replace, bonus, plain, world, iid };

/// The address of one draw inside a round: its use, its drafted position, and the number of earlier attempts.
/// Equal addresses have one random number, so a round draws at each once; the draft has those of Use::draft.
struct Draw {
  Use use;
  std::uint16_t slot;
  std::uint32_t attempt = 0;
};

/// Returns use and slot as the second counter word.
SPECLAB_HD inline std::uint32_t use_and_slot(Draw draw) {
  return (static_cast<std::uint32_t>(draw.use) << 16U) | draw.slot;
}

/// The address of a random stream: an independent sequence (`trial`), its round, and the draw within it.
struct Site {
  std::uint32_t trial;
  std::uint32_t round;
  Draw draw;
};

/// A uniform random bit generator of 64-bit words for one (seed, site); Boost.Random and <random>
/// distributions run on it. Each block has two words. The stream starts at block `attempt` and goes on from
/// there; its only state is the counter.
class Philox {
 public:
  using result_type = std::uint64_t;

  SPECLAB_HD Philox(std::uint64_t seed, Site site) {
    key_.v[0] = static_cast<std::uint32_t>(seed);
    key_.v[1] = static_cast<std::uint32_t>(seed >> 32U);
    counter_.v[0] = site.draw.attempt;
    counter_.v[1] = use_and_slot(site.draw);
    counter_.v[2] = site.round;
    counter_.v[3] = site.trial;
  }

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }

  // Without SPECLAB_INLINE, GCC does not inline this call into the rules' loops, which costs a tenth of a
  // round's time at small vocabularies.
  SPECLAB_INLINE result_type operator()() {
    if (half_ == 0) {
      block_ = r123::Philox4x32{}(counter_, key_);
      ++counter_.v[0];
    }
    const result_type word = (static_cast<result_type>(block_.v[2 * half_ + 1]) << 32U) |
                             static_cast<result_type>(block_.v[2 * half_]);
    half_ ^= 1U;
    return word;
  }

 private:
  r123::Philox4x32::ctr_type counter_{};
  r123::Philox4x32::key_type key_{};
  r123::Philox4x32::ctr_type block_{};
  std::size_t half_ = 0;
};

/// Both words of one block, as `Philox` gives them.
struct PhiloxWords {
  std::uint64_t first;
  std::uint64_t second;
};

/// Returns block `attempt` of the site (trial, round, use_and_slot).
SPECLAB_HD inline PhiloxWords philox_words(std::uint64_t seed, std::uint32_t attempt,
                                           std::uint32_t use_and_slot, std::uint32_t round,
                                           std::uint32_t trial) {
  const r123::Philox4x32::key_type key{
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)}};
  const r123::Philox4x32::ctr_type counter{{attempt, use_and_slot, round, trial}};
  const r123::Philox4x32::ctr_type block = r123::Philox4x32{}(counter, key);
  const auto word = [](std::uint32_t low, std::uint32_t high) {
    return (static_cast<std::uint64_t>(high) << 32U) | low;
  };
  return {word(block.v[0], block.v[1]), word(block.v[2], block.v[3])};
}

/// Returns a 64-bit word as a double strictly inside (0, 1): the midpoint of one of 2^52 equal cells, so
/// neither end can appear and the smallest value is 2^-53. (With 53 bits the largest midpoint would round to
/// 1.)
SPECLAB_HD inline double open_unit(std::uint64_t word) {
  return (static_cast<double>(word >> 12U) + 0.5) * 0x1p-52;
}

}  // namespace speclab
