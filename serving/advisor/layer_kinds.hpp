// Reads from a model's config.json which layers have experts and which attend to a window.
#pragma once

#include "analysis/cost/roofline.hpp"
#include "serving/advisor/model_keys.hpp"

namespace speclab {

/// Sets how many layers have experts, and the widths of all blocks: experts, the blocks of layers without
/// experts, and the shared block. Reads the keys of Mixtral, DeepSeek, Qwen, Llama 4, GLM, MiniMax, gpt-oss
/// and Granite. Throws UsageError for keys that contradict one another.
void add_experts(Transformer& model, const ModelKeys& keys);

/// Sets how many layers attend to a window, and its size, and how many layers use the cache of another layer.
/// Throws UsageError for layers that are no attention, and for a window whose layers are not stated.
void add_windows(Transformer& model, const ModelKeys& keys);

}  // namespace speclab
