// Reads from a model's config.json how its layers mix tokens.
#pragma once

#include "analysis/cost/roofline.hpp"
#include "serving/advisor/model_families.hpp"

namespace speclab {

/// Sets how layers mix tokens, unless all have plain attention over all tokens. `input` is the width of what
/// attention reads. Throws UsageError for layers that are not known, and for a window whose layers are not
/// stated.
void add_mixers(Transformer& model, const ModelKeys& keys, const ModelFamily& family, int input);

}  // namespace speclab
