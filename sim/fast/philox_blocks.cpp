// Highway includes this file once for each instruction set.
#include "sim/fast/philox_blocks.hpp"

#include "core/random/philox.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/fast/philox_blocks.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace speclab::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

/// The version without vectors is Random123's own code.
void blocks(std::uint64_t seed, const std::uint32_t* counters, std::uint32_t* words, std::size_t width) {
  const r123::Philox4x32::key_type key{
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)}};
  for (std::size_t i = 0; i < width; ++i) {
    r123::Philox4x32::ctr_type counter;
    for (std::size_t w = 0; w < 4; ++w) counter.v[w] = counters[w * width + i];
    const r123::Philox4x32::ctr_type block = r123::Philox4x32{}(counter, key);
    for (std::size_t w = 0; w < 4; ++w) words[w * width + i] = block.v[w];
  }
}

#else

constexpr std::uint32_t multiplier_0 = 0xD2511F53;  // Salmon et al. 2011, table 2 and section 4
constexpr std::uint32_t multiplier_1 = 0xCD9E8D57;
constexpr std::uint32_t weyl_0 = 0x9E3779B9;
constexpr std::uint32_t weyl_1 = 0xBB67AE85;
constexpr int rounds = 10;

using D32 = hn::ScalableTag<std::uint32_t>;
using D64 = hn::ScalableTag<std::uint64_t>;
using V32 = hn::Vec<D32>;

/// Computes both halves of the 64-bit products, lane by lane.
HWY_INLINE void multiply(V32 a, V32 by, V32& high, V32& low) {
  const D32 d32;
  const D64 d64;
  const auto even = hn::MulEven(a, by);
  const auto odd = hn::MulEven(hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d64, a))), by);
  high = hn::OddEven(hn::BitCast(d32, odd), hn::BitCast(d32, hn::ShiftRight<32>(even)));
  low = hn::OddEven(hn::BitCast(d32, hn::ShiftLeft<32>(odd)), hn::BitCast(d32, even));
}

HWY_INLINE void one_round(V32& c0, V32& c1, V32& c2, V32& c3, V32 key_0, V32 key_1) {
  const D32 d;
  V32 high_0;
  V32 low_0;
  V32 high_1;
  V32 low_1;
  multiply(c0, hn::Set(d, multiplier_0), high_0, low_0);
  multiply(c2, hn::Set(d, multiplier_1), high_1, low_1);
  c0 = hn::Xor(hn::Xor(high_1, c1), key_0);
  c1 = low_1;
  c2 = hn::Xor(hn::Xor(high_0, c3), key_1);
  c3 = low_0;
}

/// Computes `Vectors` vectors of blocks side by side: a round is a chain of dependent instructions, and one
/// vector alone would leave the processor waiting.
template <int Vectors>
HWY_INLINE void some_blocks(std::uint64_t seed, const std::uint32_t* counters, std::uint32_t* words,
                            std::size_t width) {
  const D32 d;
  const std::size_t lanes = hn::Lanes(d);
  V32 c[Vectors][4];
  for (std::size_t v = 0; v < Vectors; ++v) {
    for (std::size_t w = 0; w < 4; ++w) c[v][w] = hn::LoadU(d, counters + w * width + v * lanes);
  }
  V32 key_0 = hn::Set(d, static_cast<std::uint32_t>(seed));
  V32 key_1 = hn::Set(d, static_cast<std::uint32_t>(seed >> 32U));
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t v = 0; v < Vectors; ++v) one_round(c[v][0], c[v][1], c[v][2], c[v][3], key_0, key_1);
    key_0 = hn::Add(key_0, hn::Set(d, weyl_0));
    key_1 = hn::Add(key_1, hn::Set(d, weyl_1));
  }
  for (std::size_t v = 0; v < Vectors; ++v) {
    for (std::size_t w = 0; w < 4; ++w) hn::StoreU(c[v][w], d, words + w * width + v * lanes);
  }
}

void blocks(std::uint64_t seed, const std::uint32_t* counters, std::uint32_t* words, std::size_t width) {
  const std::size_t lanes = hn::Lanes(D32());
  std::size_t i = 0;
  for (; i + 2 * lanes <= width; i += 2 * lanes) some_blocks<2>(seed, counters + i, words + i, width);
  for (; i < width; i += lanes) some_blocks<1>(seed, counters + i, words + i, width);
}

#endif

std::uint64_t below(const std::uint64_t* words, std::size_t count, std::uint64_t threshold) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(d, threshold);
  const auto one = hn::Set(d, 1);
  const auto counted = [&](std::size_t i) {
    return hn::IfThenElseZero(hn::Lt(hn::LoadU(d, words + i), limit), one);
  };
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += 2 * lanes) {
    even = hn::Add(even, counted(i));
    odd = hn::Add(odd, counted(i + lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace speclab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace speclab {

HWY_EXPORT(blocks);
HWY_EXPORT(below);
HWY_EXPORT(target_name);

void philox_blocks(std::uint64_t seed, const std::uint32_t* counters, std::uint32_t* words,
                   std::size_t width) {
  HWY_DYNAMIC_DISPATCH(blocks)(seed, counters, words, width);
}

std::uint64_t count_below(const std::uint64_t* words, std::size_t count, std::uint64_t threshold) {
  return HWY_DYNAMIC_DISPATCH(below)(words, count, threshold);
}

const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace speclab
#endif
