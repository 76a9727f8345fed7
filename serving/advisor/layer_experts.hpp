// Reads from a model's config.json which layers have experts, and the widths of feed-forward blocks.
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

}  // namespace speclab
