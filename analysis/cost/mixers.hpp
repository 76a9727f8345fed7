// Layers of a Transformer by how they mix tokens: attention over a cache, or a recurrent state of fixed size.
#pragma once

namespace speclab {

/// Multi-head latent attention (DeepSeek-AI 2024, "DeepSeek-V2", section 2.1): the cache stores a token's
/// keys and values as `rank` numbers, which all heads share, and `rotary` numbers of one key.
struct LatentAttention {
  int rank = 0;        ///< kv_lora_rank; 0: the cache stores keys and values themselves
  int query_rank = 0;  ///< q_lora_rank; 0: one matrix computes queries
  int plain = 0;       ///< qk_nope_head_dim
  int rotary = 0;      ///< qk_rope_head_dim
  int value = 0;       ///< v_head_dim
};

/// Layers that mix tokens in one way; all other numbers are for one of them. Attention stores entries that
/// grow with the context. Linear attention and state-space layers have a state instead, and a causal
/// convolution whose last inputs they keep.
struct Mixer {
  int layers = 0;
  double parameters = 0;  ///< matrices
  /// Devices among which tensor parallelism can split the cache or state of a sequence. Further devices store
  /// copies.
  int parts = 1;
  double kept = 0;               ///< numbers that the cache stores for an entry
  double flops = 0;              ///< for a token and an entry that it attends to
  int window = 0;                ///< tokens that attention reaches back; 0: all
  int ratio = 1;                 ///< tokens that one entry of a compressed cache stands for
  int selected = 0;              ///< entries that a token attends to in sparse attention; 0: all
  double index_kept = 0;         ///< numbers of each entry by which sparse attention selects
  double index_flops = 0;        ///< for a token and an entry that may be selected
  int layers_without_cache = 0;  ///< layers that read the cache of an earlier layer
  double state = 0;              ///< numbers of the recurrent state of a sequence
  double state_bytes = 4;        ///< bytes of each of them
  double channels = 0;           ///< channels of the convolution, whose inputs have 16 bits
  int kernel = 0;                ///< width of the convolution
  double state_flops = 0;        ///< for a token, besides the matrices

  /// Returns the number of entries for a context.
  double entries(double context) const;
  /// Returns the number of entries that `tokens` tokens of a sequence read; each selects its own.
  double read_entries(double context, double tokens) const;
  /// Returns the bytes of one state, with the inputs that its convolution needs if up to `drafts` tokens may
  /// be taken back: kernel - 1 + drafts. By this formula 69 layers of Kimi K3 have 57.81 MiB on each of 8
  /// devices for 7 drafts, as ROCm/ATOM#1883 prints.
  double state_size(double drafts) const;
};

/// Grouped-query attention (Ainslie et al. 2023). `input` is the width of what queries, keys and values are
/// computed from; keys and values may have different sizes.
struct GroupedHeads {
  int heads = 0;
  int kv_heads = 0;
  int key = 0;    ///< numbers of a query or key
  int value = 0;  ///< numbers of a value
};
Mixer grouped_attention(double hidden, const GroupedHeads& heads, double input);
/// Latent attention; a token attends with the up-projections absorbed (DeepSeek-V2, section 2.1.2).
Mixer latent_attention(double hidden, int heads, const LatentAttention& latent);

/// The index of DeepSeek sparse attention (DeepSeek-AI 2025, "DeepSeek-V3.2", section 2.1): `heads` queries
/// of `size` numbers, made from the latent query, score one key of each entry.
struct SparseIndex {
  int heads = 0;
  int size = 0;
  int selected = 0;
};
void add_index(Mixer& mixer, double hidden, int query_rank, const SparseIndex& index);

/// Gated delta networks (Yang et al. 2025) as in Qwen3-Next: matrices for queries, keys, values, output gate,
/// two gates per value head, and the output.
struct DeltaHeads {
  int key_heads = 0;
  int value_heads = 0;
  int key = 0;
  int value = 0;
  int kernel = 0;
};
Mixer delta_network(double hidden, const DeltaHeads& heads);
/// Kimi delta attention (Kimi Team 2025, "Kimi Linear"): as many heads for keys as for values; the decay has
/// a gate per channel, of low rank, and so has the output unless `full_gate`.
Mixer kimi_delta_attention(double hidden, int heads, int size, int kernel, bool full_gate);

/// Mamba-2 (Dao and Gu 2024, section 6).
struct StateSpace {
  int heads = 0;
  int head_size = 0;
  int groups = 0;
  int state = 0;
  int kernel = 0;
};
Mixer mamba2(double hidden, const StateSpace& space);

/// The attention of DeepSeek-V4 (DeepSeek-AI 2026, section 2.3) over a window, with one key for all heads
/// that is also the value: queries of low rank, and an output in `groups` of rank `output_rank`.
struct SharedKeyAttention {
  int heads = 0;
  int size = 0;
  int query_rank = 0;
  int groups = 0;
  int output_rank = 0;
  int window = 0;
};
Mixer shared_key_attention(double hidden, const SharedKeyAttention& attention);
/// Returns what its layers with compressed entries have beyond the window: entries of `ratio` tokens, and
/// where the index selects among them (ratio 4), two overlapping series of each.
Mixer compressed_entries(double hidden, const SharedKeyAttention& attention, int ratio,
                         const SparseIndex& index);

}  // namespace speclab
