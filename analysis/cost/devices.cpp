#include "analysis/cost/presets.hpp"

namespace speclab {

namespace {

constexpr double tera = 1e12;
constexpr double giga = 1e9;

}  // namespace

// Data sheets print matrix rates with 2:4 sparsity; these rates are half of them. 8-bit is INT8 on Ampere and
// TPU, FP8 elsewhere. Links are half of the bidirectional rate that the sheets print (NVLink, Infinity
// Fabric, or PCIe).
const std::vector<Device>& device_presets() {
  static const std::vector<Device> all{
      {"a100-40gb", 312 * tera, 624 * tera, 1555 * giga, 40 * giga, 300 * giga, 400,
       "NVIDIA A100 Tensor Core GPU data sheet (SXM4, 40 GB)"},
      {"a100-80gb", 312 * tera, 624 * tera, 2039 * giga, 80 * giga, 300 * giga, 400,
       "NVIDIA A100 80GB data sheet (SXM4)"},
      {"a100-80gb-pcie", 312 * tera, 624 * tera, 1935 * giga, 80 * giga, 32 * giga, 300,
       "NVIDIA A100 80GB data sheet (PCIe)"},
      {"h100-sxm", 989.4 * tera, 1978.9 * tera, 3350 * giga, 80 * giga, 450 * giga, 700,
       "NVIDIA H100 Tensor Core GPU data sheet (SXM5)"},
      {"h100-pcie", 756 * tera, 1513 * tera, 2000 * giga, 80 * giga, 64 * giga, 350,
       "NVIDIA H100 Tensor Core GPU data sheet (PCIe)"},
      {"h200", 989.4 * tera, 1978.9 * tera, 4800 * giga, 141 * giga, 450 * giga, 700,
       "NVIDIA H200 Tensor Core GPU data sheet (SXM)"},
      {"b200", 2250 * tera, 4500 * tera, 8000 * giga, 180 * giga, 900 * giga, 1000,
       "NVIDIA DGX B200 data sheet, an eighth of the system"},
      {"l4", 121 * tera, 242.5 * tera, 300 * giga, 24 * giga, 32 * giga, 72,
       "NVIDIA L4 Tensor Core GPU data sheet"},
      {"l40s", 362 * tera, 733 * tera, 864 * giga, 48 * giga, 32 * giga, 350, "NVIDIA L40S data sheet"},
      {"a10", 125 * tera, 250 * tera, 600 * giga, 24 * giga, 32 * giga, 150, "NVIDIA A10 data sheet"},
      {"rtx-4090", 165.2 * tera, 330.3 * tera, 1008 * giga, 24 * giga, 32 * giga, 450,
       "NVIDIA Ada GPU architecture whitepaper, appendix A (FP32 accumulation)"},
      {"mi300x", 1307.4 * tera, 2614.9 * tera, 5300 * giga, 192 * giga, 448 * giga, 750,
       "AMD Instinct MI300X data sheet"},
      {"tpu-v4", 275 * tera, 275 * tera, 1200 * giga, 32 * 1.073741824 * giga, 300 * giga, 192,
       "Google Cloud TPU v4 documentation; links: Jouppi et al. 2023 (6 of 50 GB/s)"}};
  return all;
}

const std::vector<NamedPrecision>& precision_presets() {
  static const std::vector<NamedPrecision> all{{"bf16", {2, 2, false}},
                                               {"fp16", {2, 2, false}},
                                               {"fp8", {1, 2, true}},
                                               {"int8", {1, 2, true}},
                                               {"int4", {0.5, 2, false}}};
  return all;
}

}  // namespace speclab
