// Families of architectures: the model types of each, what a config.json does not state, and presets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "serving/advisor/model_keys.hpp"

namespace speclab {

/// Ways in which the layers of a family differ from plain attention, where no key says so by itself.
enum class LayerForm {
  usual,
  windowed,       ///< every layer attends to the window that the config states
  gated,          ///< the output of attention has a gate
  two_sizes,      ///< Gemma 4: layers with a window have other heads than those without
  two_kinds,      ///< MiMo-V2: the same, under other keys
  shared_key,     ///< DeepSeek-V4: one key for all heads, compressed entries
  single_blocks,  ///< Nemotron-H: each layer is a mixer or a feed-forward block
};

struct ModelFamily {
  std::string name{};
  std::vector<std::string> types{};  ///< values of model_type
  /// Whether feed-forward blocks have three matrices; empty: as feed_forward_proj says.
  std::optional<bool> gated{};
  bool tied = false;   ///< one matrix for input and output, unless the config says otherwise
  int full_every = 0;  ///< every n-th layer attends to all tokens, unless the config says which; 0: it says
  LayerForm form = LayerForm::usual;
  std::vector<std::string> witnesses{};  ///< presets of the family, whose published parameters tests count
};

const std::vector<ModelFamily>& model_families();

/// Returns the family of a config's model_type or, else, architecture; null if neither is known.
const ModelFamily* family_of(const ModelKeys& outer, const ModelKeys& keys);

}  // namespace speclab
