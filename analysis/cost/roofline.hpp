// How long one run of a Transformer takes by the roofline model (Williams, Waterman and Patterson 2009): the
// larger of its memory traffic over the bandwidth and its arithmetic over the peak, and what each run costs
// besides. Numbers are of doubles in SI units: seconds, bytes, FLOP. It knows no cache, no overlap and no
// kernel: an estimate, not a measurement.
#pragma once

#include <string>

namespace speclab {

/// A device, from its vendor's data sheet. Rates are dense, without structured sparsity.
struct Device {
  std::string name{};
  double flops_16bit = 0;  ///< FLOP/s of matrices in bfloat16 or float16
  double flops_8bit = 0;   ///< the same in FP8 or INT8
  double bandwidth = 0;    ///< bytes/s of its memory
  double memory = 0;       ///< bytes
  double link = 0;         ///< bytes/s to the other devices, in one direction
  double power = 0;        ///< limit of the board, W
  std::string source{};
};

/// The shape of a Transformer, as its config.json gives it. A model of which only the number of parameters is
/// known has no layers: its KV cache and attention then count as nothing.
struct Transformer {
  std::string name{};
  std::string repository{};  ///< as servers know the model; empty: not published
  int layers = 0;            ///< of the decoder
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_size = 0;
  int feed_forward = 0;
  int vocab = 0;
  bool gated = true;       ///< three feed-forward matrices rather than two
  bool tied = false;       ///< the output matrix is the input embedding
  int experts = 1;         ///< feed-forward blocks per layer
  int active_experts = 1;  ///< of which a token uses these
  /// n tokens of one sequence touch as many experts as n^exponent tokens that choose independently: 1 where
  /// they do, 0 where they all choose alike. The default fits the unions of 39.4 and 58.9 of 256 experts that
  /// Luce-Org/lucebox#501 prints for 8 and 15 tokens, 8 experts a token, within 3%; measure your model's.
  double routing_exponent = 0.79;
  int encoder_layers = 0;   ///< an encoder-decoder model; its encoder runs once a prompt, not per token
  int windowed_layers = 0;  ///< decoder layers that attend to the last `window` tokens only
  int window = 0;           ///< tokens
  double published = 0;     ///< parameters, as published
  /// Of an EAGLE-3 head (Li et al. 2025, section 3), which is no model: hidden numbers of the target that its
  /// matrix `fc` reads, three states, and the tokens that it can draft. `vocab` is the target's, whose
  /// embedding it uses.
  int fused = 0;
  int draft_vocab = 0;

  bool is_head() const { return fused > 0; }
  std::string source{};
};

/// All parameters, from the shape: matrices and embeddings. Vectors (norms, biases) and tables of positions
/// are left out, less than 1% of each preset. `published` when the model has no layers. An EAGLE-3 head has
/// `fc`, no embedding, attention that reads the embedding beside the hidden state, and outputs for
/// `draft_vocab` tokens.
double parameters(const Transformer& model);

/// Parameters that one token multiplies in the decoder, the output matrix included. Of an EAGLE-3 head `fc`
/// is counted in every run, though a round runs it once: of heads for Llama 3 that is an eighth of what a run
/// multiplies.
double active_parameters(const Transformer& model);

/// Distinct experts of a layer that `tokens` tokens touch, each choosing uniformly and independently:
/// experts (1 - (1 - active / experts)^tokens).
double independent_experts(const Transformer& model, double tokens);

/// The same for `tokens` tokens of each of `batch` sequences, which are independent of each other:
/// independent_experts(batch tokens^routing_exponent).
double expected_experts(const Transformer& model, double tokens, double batch);

/// How numbers are stored and multiplied.
struct Precision {
  double weight_bytes = 2;
  double cache_bytes = 2;
  bool eight_bit_arithmetic = false;
};

/// KV cache of one sequence of `context` tokens: 2 kv_heads head_size cache_bytes per token and layer, at
/// most `window` tokens in windowed layers (Pope et al. 2022, section 3.3, with grouped heads). An
/// encoder-decoder model keeps as much again for a source of as many tokens.
double cache_bytes(const Transformer& model, double context, const Precision& precision);

/// One run: `tokens` positions of each of `batch` sequences, each with `context` tokens before them.
struct Run {
  double tokens = 1;
  double batch = 1;
  double context = 0;
};

/// What a run does.
struct RunWork {
  double flops = 0;
  double bytes = 0;  ///< read and written

  double intensity() const { return flops / bytes; }  ///< FLOP per byte
};

/// FLOPs: 2 per active parameter and token, and 4 heads head_size per layer, token and attended token
/// (Chowdhery et al. 2022, appendix B, forward pass). Bytes: the weights once, of experts those touched; the
/// KV cache of every sequence once; the new tokens' part of it written. Activations are left out.
RunWork work(const Transformer& model, const Run& run, const Precision& precision);

/// A device, or several in tensor parallel, and what can be had of it. The efficiencies and overheads are
/// assumptions, not data: measure yours.
struct Machine {
  Device device;
  int devices = 1;
  Precision precision;
  double bandwidth_efficiency = 0.8;
  double flops_efficiency = 0.7;
  double run_overhead = 100e-6;   ///< seconds a run: launch, sampling, host
  double layer_overhead = 5e-6;   ///< seconds a layer: its kernels, one after the other
  double reduce_latency = 10e-6;  ///< seconds an all-reduce, besides its bytes
};

/// FLOP/s of all devices at this precision, before efficiency.
double peak_flops(const Machine& machine);

/// The parts of a run's time, in seconds.
struct RunTime {
  double memory = 0;         ///< bytes / (devices bandwidth efficiency)
  double arithmetic = 0;     ///< FLOPs / (peak efficiency)
  double overhead = 0;       ///< of the run and its layers
  double communication = 0;  ///< all-reduces of tensor parallelism

  bool compute_bound() const { return arithmetic > memory; }
  double total() const { return (compute_bound() ? arithmetic : memory) + overhead + communication; }
};

/// Tensor parallelism adds one all-reduce after each attention and each feed-forward block (Shoeybi et al.
/// 2019, section 3), of hidden 16-bit numbers per token; a ring moves 2 (d - 1) / d of them over each link
/// (Patarasuk and Yuan 2009).
RunTime run_time(const Machine& machine, const Transformer& model, const Run& run);

/// Energy of some work, in joules, by two constants: 32 pJ per byte of memory traffic (about 4 pJ per bit, as
/// O'Connor et al. 2017 report for HBM2) and the board's power over its peak for each FLOP. Idle power is
/// left out. A rough estimate: its ratios say more than its digits.
double energy(const Machine& machine, const RunWork& done);

/// The most sequences of `context` tokens whose caches fit beside the weights of both models, when `share` of
/// the memory may be used; negative when the weights alone do not fit. `draft` may be null.
double largest_batch(const Machine& machine, const Transformer& target, const Transformer* draft,
                     double context, double share);

}  // namespace speclab
