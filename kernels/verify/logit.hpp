// Logits in the three formats that models produce, and their values as float.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/host_device.hpp"
#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

namespace speclab {

enum class Dtype : std::int32_t { f32 = 0, bf16 = 1, f16 = 2 };

SPECLAB_HD constexpr std::int64_t dtype_bytes(Dtype dtype) { return dtype == Dtype::f32 ? 4 : 2; }

struct Bf16 {
  std::uint16_t bits;
};
struct F16 {
  std::uint16_t bits;
};

SPECLAB_HD inline float float_of_bits(std::uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
SPECLAB_HD inline std::uint32_t bits_of_float(float value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

SPECLAB_HD inline float to_float(float value) { return value; }
SPECLAB_HD inline float to_float(Bf16 value) { return float_of_bits(std::uint32_t{value.bits} << 16U); }
SPECLAB_HD inline float to_float(F16 value) {
#if defined(__CUDA_ARCH__)
  return __half2float(__ushort_as_half(value.bits));
#else
  const std::uint32_t sign = std::uint32_t{value.bits & 0x8000U} << 16U;
  const std::uint32_t exponent = (value.bits >> 10U) & 0x1fU;
  const std::uint32_t fraction = value.bits & 0x3ffU;
  if (exponent == 0x1f) return float_of_bits(sign | 0x7f800000U | (fraction << 13U));
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  return float_of_bits(sign | ((exponent + 112U) << 23U) | (fraction << 13U));
#endif
}

/// Returns the nearest value of another format, ties to even; values beyond its range become infinite.
template <class T>
SPECLAB_HD T from_float(float value);

template <>
SPECLAB_HD inline float from_float<float>(float value) {
  return value;
}
template <>
SPECLAB_HD inline Bf16 from_float<Bf16>(float value) {
  const std::uint32_t bits = bits_of_float(value);
  if (value != value) return {static_cast<std::uint16_t>((bits >> 16U) | 0x40U)};
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U)};
}
template <>
SPECLAB_HD inline F16 from_float<F16>(float value) {
  const std::uint32_t bits = bits_of_float(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (value != value) return {static_cast<std::uint16_t>(sign | 0x7e00U)};
  if (magnitude >= 0x477ff000U) return {static_cast<std::uint16_t>(sign | 0x7c00U)};  // 65520 and above
  if (magnitude < 0x38800000U) {
    // Below 2^-14: adding 1/2 leaves the multiple of 2^-24 in the low bits, rounded to even by the hardware.
    const float shifted = float_of_bits(magnitude) + 0.5F;
    return {static_cast<std::uint16_t>(sign | (bits_of_float(shifted) - 0x3f000000U))};
  }
  const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13U) & 1U);
  return {static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13U))};
}

/// Calls `work` with a value of the logits' type.
template <class Work>
void with_logit_type(Dtype dtype, const Work& work) {
  switch (dtype) {
    case Dtype::f32:
      work(float{});
      return;
    case Dtype::bf16:
      work(Bf16{});
      return;
    case Dtype::f16:
      work(F16{});
      return;
  }
}

}  // namespace speclab
