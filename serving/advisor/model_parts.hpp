// Reads parts of a model from its config.json: which layers have experts, how layers mix tokens, and in which
// numbers weights and cache are stored.
#pragma once

#include <string>

#include "analysis/cost/roofline.hpp"
#include "serving/advisor/model_families.hpp"

namespace speclab {

/// Returns a letter for each layer of a model whose layers are single blocks: M for Mamba, * for attention, -
/// for a dense block, E for experts. Empty for other families.
std::string block_pattern(const ModelKeys& keys, const ModelFamily& family);

/// Sets how many layers have experts, and the widths of all blocks: experts, the blocks of layers without
/// experts, and the shared block. Throws UsageError for keys that contradict one another.
void add_experts(Transformer& model, const ModelKeys& keys, const ModelFamily& family);

/// Sets how layers mix tokens, unless all have plain attention over all tokens. `input` is the width of what
/// attention reads. Throws UsageError for unknown layers, and for a window of unstated layers.
void add_mixers(Transformer& model, const ModelKeys& keys, const ModelFamily& family, int input);

/// Bytes of a number of 4 bits with its share of its block's scale. Blocks of floats have 16 or 32 numbers
/// and a scale of 8 bits; blocks of integers usually have 128 numbers and a scale of 16 bits.
constexpr double nvfp4_bytes = 0.5 + 1.0 / 16;
constexpr double mxfp4_bytes = 0.5 + 1.0 / 32;
constexpr double int4_bytes = 0.5 + 2.0 / 128;

/// Sets in which numbers a checkpoint stores `model`, whose layers are known, from the object `key`, such as
/// quantization_config, in the forms of Transformers (fp8, fbgemm_fp8, gptq, awq, bitsandbytes, mxfp4),
/// compressed-tensors and ModelOpt. Lists of modules that stay in 16 bits, or have other numbers, are
/// averaged over the layers. `blocks` are those of block_pattern. Throws UsageError for another method, and
/// adds a note for a module that is not known.
void add_stored(Transformer& model, const ModelKeys& keys, const char* key, const std::string& blocks);

}  // namespace speclab
