#include "analysis/cost/mixers.hpp"

#include <algorithm>

namespace speclab {

double Mixer::entries(double context) const {
  return (window > 0 ? std::min<double>(context, window) : context) / ratio;
}

double Mixer::read_entries(double context, double tokens) const {
  const double all = entries(context);
  return selected > 0 ? std::min(all, tokens * selected) : all;
}

double Mixer::state_size(double drafts) const {
  constexpr double input_bytes = 2;
  if (state == 0) return 0;
  return state * state_bytes + channels * (kernel - 1 + drafts) * input_bytes;
}

Mixer grouped_attention(double hidden, const GroupedHeads& heads, double input) {
  Mixer mixer;
  const double queries = double(heads.heads) * heads.key;
  mixer.kept = double(heads.kv_heads) * (heads.key + heads.value);
  mixer.parameters = input * queries + hidden * heads.heads * heads.value + input * mixer.kept;
  mixer.parts = heads.kv_heads;
  mixer.flops = 2.0 * heads.heads * (heads.key + heads.value);
  return mixer;
}

Mixer latent_attention(double hidden, int heads, const LatentAttention& latent) {
  Mixer mixer;
  const double queries = double(heads) * (latent.plain + latent.rotary);
  const double query = latent.query_rank > 0 ? latent.query_rank * (hidden + queries) : hidden * queries;
  mixer.kept = latent.rank + latent.rotary;
  mixer.parameters = query + hidden * mixer.kept +
                     double(latent.rank) * heads * (latent.plain + latent.value) +
                     double(heads) * latent.value * hidden;
  mixer.flops = 2.0 * heads * (2.0 * latent.rank + latent.rotary);
  return mixer;
}

void add_index(Mixer& mixer, double hidden, int query_rank, const SparseIndex& index) {
  const double queries = double(index.heads) * index.size;
  mixer.parameters += query_rank * queries + hidden * (index.size + index.heads);
  mixer.selected = index.selected;
  mixer.index_kept = index.size;
  mixer.index_flops = 2 * queries;
}

namespace {

/// FLOPs of a delta rule for a token and a number of the state: decay, reading, correction, and output.
constexpr double delta_flops = 7;

}  // namespace

Mixer delta_network(double hidden, const DeltaHeads& heads) {
  Mixer mixer;
  const double keys = double(heads.key_heads) * heads.key;
  const double values = double(heads.value_heads) * heads.value;
  mixer.channels = 2 * keys + values;
  mixer.kernel = heads.kernel;
  mixer.parameters = hidden * (mixer.channels + values + 2.0 * heads.value_heads) + values * hidden +
                     mixer.channels * heads.kernel;
  mixer.parts = std::max(heads.value_heads, 1);
  mixer.state = values * heads.key;
  mixer.state_flops = delta_flops * mixer.state;
  return mixer;
}

Mixer kimi_delta_attention(double hidden, int heads, int size, int kernel, bool full_gate) {
  Mixer mixer;
  const double width = double(heads) * size;
  const double low_rank = size * (hidden + width);
  mixer.channels = 3 * width;
  mixer.kernel = kernel;
  mixer.parameters = hidden * (mixer.channels + heads) + low_rank + (full_gate ? hidden * width : low_rank) +
                     width * hidden + mixer.channels * kernel;
  mixer.parts = std::max(heads, 1);
  mixer.state = width * size;
  mixer.state_flops = delta_flops * mixer.state;
  return mixer;
}

Mixer mamba2(double hidden, const StateSpace& space) {
  constexpr double flops = 5;  // decay, outer product, sum, and output
  Mixer mixer;
  const double inner = double(space.heads) * space.head_size;
  const double shared = 2.0 * space.groups * space.state;
  mixer.channels = inner + shared;
  mixer.kernel = space.kernel;
  mixer.parameters =
      hidden * (2 * inner + shared + space.heads) + inner * hidden + mixer.channels * space.kernel;
  mixer.parts = std::max(space.heads, 1);
  mixer.state = inner * space.state;
  mixer.state_flops = flops * mixer.state;
  return mixer;
}

Mixer shared_key_attention(double hidden, const SharedKeyAttention& attention) {
  Mixer mixer;
  const double width = double(attention.heads) * attention.size;
  mixer.kept = attention.size;
  mixer.parameters = attention.query_rank * (hidden + width) + hidden * attention.size +
                     attention.output_rank * (width + attention.groups * hidden);
  mixer.flops = 4 * width;
  mixer.window = attention.window;
  return mixer;
}

Mixer compressed_entries(double hidden, const SharedKeyAttention& attention, int ratio,
                         const SparseIndex& index) {
  Mixer mixer;
  const double series = index.heads > 0 ? 2 : 1;
  const auto compressor = [&](double size) { return series * size * (2 * hidden + ratio); };
  mixer.kept = attention.size;
  mixer.flops = 4.0 * attention.heads * attention.size;
  mixer.ratio = ratio;
  mixer.parameters = compressor(attention.size);
  if (index.heads == 0) return mixer;
  // The index compresses its own keys, so it has no matrix for keys of single tokens.
  add_index(mixer, hidden, attention.query_rank, index);
  mixer.parameters += compressor(index.size) - hidden * index.size;
  return mixer;
}

}  // namespace speclab
