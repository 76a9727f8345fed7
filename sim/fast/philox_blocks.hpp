// Computes Philox blocks of many sites at once by vector instructions, with the same bits as `Philox`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace speclab {

/// The number of blocks must be a multiple of this.
inline constexpr std::size_t philox_batch = 16;

/// Computes `width` Philox4x32-10 blocks. Word w of counter i is counters[w * width + i], and likewise for
/// the output. The key is the seed, low half first, as in core/random/philox.hpp. `width` is a multiple of
/// `philox_batch`. The instruction set is chosen at run time.
void philox_blocks(std::uint64_t seed, const std::uint32_t* counters, std::uint32_t* words,
                   std::size_t width);

/// Returns the 64-bit number that `Philox` makes of two output words.
inline std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return (std::uint64_t{high} << 32U) | low;
}

/// Returns how many of `count` words are below `threshold`. `count` is a multiple of `philox_batch`.
std::uint64_t count_below(const std::uint64_t* words, std::size_t count, std::uint64_t threshold);

/// Returns the instruction set that `philox_blocks` uses on this processor: "AVX3", "AVX2", "SSE4" and so on.
const char* instruction_set();

}  // namespace speclab
