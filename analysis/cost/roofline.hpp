// Estimates the time of one run of a Transformer by the roofline model (Williams, Waterman and Patterson
// 2009): the larger of its memory traffic over the bandwidth and its arithmetic over the peak, plus overheads
// of each run. Numbers are doubles in SI units: seconds, bytes, FLOP. The model ignores processor caches,
// overlap and kernels: it gives an estimate, not a measurement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/cost/mixers.hpp"

namespace speclab {

/// A device, from its vendor's data sheet. Rates are dense, without structured sparsity.
struct Device {
  std::string name{};
  double flops_16bit = 0;  ///< FLOP/s of matrices in bfloat16 or float16
  double flops_8bit = 0;   ///< the same in INT8; 0: none
  double flops_fp8 = 0;    ///< the same in FP8; 0: none
  double flops_4bit = 0;   ///< the same in 4-bit floats (NVFP4, MXFP4); 0: none
  double bandwidth = 0;    ///< bytes/s of its memory
  double memory = 0;       ///< bytes
  double link = 0;         ///< bytes/s to other devices, in one direction
  std::string source{};
};

/// The numbers that matrices multiply. A device without units for them multiplies in 16 bits.
enum class MatrixFormat { sixteen_bits, int8, fp8, fp4 };

/// The relation of a Transformer to the target: an independent model, or a head, which drafts from the
/// target's states.
/// - EAGLE-3 (Li et al. 2025, section 3): one layer, whose attention reads a token's embedding and the state
///    that the matrix `fc` computes from three of the target's states. P-EAGLE (SpecForge,
///    modeling/draft/peagle.py) has further layers, and drafts all tokens in one run.
/// - MTP module (DeepSeek-AI 2024, "DeepSeek-V3", section 2.2; deepseek_nextn.py of SGLang): a matrix from 2
///    hidden to hidden over the embedding and the state, then one layer like the target's; embedding and
///    output matrix are the target's.
/// - Medusa (Cai et al. 2024, section 2.1.1; medusa_model.py of FasterDecoding/Medusa): head k drafts the
///    k-th next token from the target's last state by `layers` residual matrices and its own output matrix.
///    One run computes all heads. They have no attention and no cache.
/// - DFlash (Chen, Liang and Liu 2026, arXiv:2602.06036; dflash/model.py of z-lab/dflash): `fc` computes one
///    state from several of the target's states; from this each layer has the keys and values of the context.
///    One run over the last token and gamma masked tokens drafts gamma tokens, with the target's embedding
///    and output matrix. DSpark (deepseek-ai/DeepSpec) and Domino (SpecForge, modeling/draft/domino.py) then
///    correct the tokens one after another: by a Markov head of two matrices between a rank and the
///    vocabulary, or by a GRU with a projection of low rank.
/// - EAGLE (Li et al. 2024, section 3.2): as an MTP module, but with a layer of its own shape.
enum class HeadKind { none, eagle, eagle3, mtp, medusa, dflash, dspark, domino };

/// Mean bytes of a stored parameter in each part of a checkpoint whose parts have different numbers; scales
/// of blocks are included. Embeddings, routers and vectors have 16 bits.
struct StoredBytes {
  double experts = 2;
  double feed_forward = 2;  ///< dense and shared blocks
  double mixers = 2;
  double output = 2;
  double modules = 2;  ///< modules for multi-token prediction
};

/// The shape of a Transformer, as in its config.json. A model with a known number of parameters but unknown
/// shape has no layers: its KV cache and attention then count as 0.
struct Transformer {
  std::string name{};
  std::string repository{};  ///< name by which servers know the model; empty: not published
  int layers = 0;            ///< layers of the decoder
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_size = 0;
  int feed_forward = 0;
  int vocab = 0;
  bool gated = true;       ///< three feed-forward matrices instead of two
  bool tied = false;       ///< the output matrix is the input embedding
  int experts = 1;         ///< feed-forward blocks per layer that tokens choose from
  int active_experts = 1;  ///< blocks that one token chooses
  /// n tokens of one sequence touch as many experts as n^exponent independent tokens: 1 if tokens choose
  /// independently, 0 if all choose the same. The default fits the unions of 39.4 and 58.9 of 256 experts
  /// that Luce-Org/lucebox#501 prints for 8 and 15 tokens, 8 experts per token, within 3%.
  double routing_exponent = 0.79;
  int encoder_layers = 0;  ///< an encoder-decoder model; its encoder runs once per prompt, not per token
  /// How layers mix tokens; if it is empty, all have grouped-query attention over all tokens, with the heads
  /// above. Modules for multi-token prediction have the last mixer.
  std::vector<Mixer> mixers{};
  double published = 0;         ///< parameters, as published
  double published_active = 0;  ///< for a model without layers: those that one token multiplies; 0: all
  /// In a model with experts: number of layers with one feed-forward block instead, and its size.
  int dense_layers = 0;
  int dense_feed_forward = 0;
  int shared_feed_forward = 0;  ///< width of the block that every token uses besides its experts; 0: none
  int layers_without_feed_forward = 0;
  int expert_hidden = 0;  ///< width that layers project to and from for their experts; 0: `hidden`
  /// Modules for multi-token prediction: shipped with this model, or, for an MTP head, contained in it.
  int mtp_modules = 0;
  HeadKind head = HeadKind::none;
  /// Only for heads: width of the first matrix's input (0 for Medusa), and size of the vocabulary from which
  /// the head drafts. `vocab` is the target's.
  int fused = 0;
  int draft_vocab = 0;
  /// DSpark and Domino: parameters that correct one token, read again for each, and those that are stored.
  double correction = 0;
  double stored_correction = 0;
  bool parallel = false;  ///< P-EAGLE: one run of an EAGLE-3 head drafts all tokens
  /// Maximum of drafted tokens in a round: the heads of Medusa, one less than DFlash's block; 0: any number.
  int max_drafted = 0;
  std::optional<StoredBytes> stored{};  ///< empty: all parameters have the bytes of a Precision
  std::string stored_as{};  ///< name of the numbers of most weights, such as "fp8"; empty: not stated
  MatrixFormat arithmetic = MatrixFormat::sixteen_bits;  ///< of most of `stored`
  bool eight_bit_cache = false;
  double positions = 0;              ///< longest context; 0: unknown, or without a limit
  double index_bytes = 0;            ///< bytes of all weights by the checkpoint's index; 0: unknown
  std::vector<std::string> notes{};  ///< sentences about what was assumed or left out
  std::string source{};

  bool is_head() const { return head != HeadKind::none; }
  /// Returns true for DFlash and the heads that correct its block.
  bool drafts_block() const {
    return head == HeadKind::dflash || head == HeadKind::dspark || head == HeadKind::domino;
  }
  /// Returns true if one run drafts all tokens of a round, false if each token takes a run.
  bool drafts_in_one_run() const { return head == HeadKind::medusa || drafts_block() || parallel; }
};

/// Returns the MTP modules of a target as a drafter: each module drafts one token. For more tokens than
/// modules, engines reuse the modules (vLLM 0.33, config/speculative.py), or only the first (SGLang 0.5.23,
/// deepseek_nextn.py). Experts and attention are those of the target's later layers.
Transformer mtp_drafter(const Transformer& target);

/// Returns the mixers of the decoder's layers, or those that follow from a model's other numbers.
std::vector<Mixer> mixers_of(const Transformer& model);

/// Returns the number of stored parameters, from the shape: matrices and embeddings. Vectors (norms, biases)
/// and position tables are left out, less than 1% of each preset. Returns `published` if the model has no
/// layers. A head has no embedding. The output matrices of MTP modules and DFlash blocks are the target's,
/// and are not counted here; EAGLE-3 and Medusa heads have their own.
double parameters(const Transformer& model);

/// Returns the number of parameters that one token multiplies in the decoder, including the output matrix,
/// even if the target stores it. For EAGLE-3 `fc` is counted in every run, although a round runs it once: for
/// heads of Llama 3 it is an eighth of the parameters that a run multiplies. For Medusa these are the
/// parameters of one head; for DFlash each matrix counts once.
double active_parameters(const Transformer& model);

/// Returns the expected number of distinct experts of a layer that `tokens` tokens touch, each choosing
/// uniformly and independently: experts (1 - (1 - active / experts)^tokens). The shared block is not counted.
double independent_experts(const Transformer& model, double tokens);

/// Returns the expected number for `tokens` tokens of each of `batch` independent sequences:
/// independent_experts(batch tokens^routing_exponent).
double expected_experts(const Transformer& model, double tokens, double batch);

/// Number formats of weights, caches and arithmetic.
struct Precision {
  double weight_bytes = 2;
  double cache_bytes = 2;
  MatrixFormat arithmetic = MatrixFormat::sixteen_bits;
};

/// Returns the bytes of all stored parameters.
double weight_bytes(const Transformer& model, const Precision& precision);

/// Returns the bytes of the KV cache of one sequence of `context` tokens: 2 kv_heads head_size cache_bytes
/// per token and layer, at most `window` tokens in windowed layers (Pope et al. 2022, section 3.3, with
/// grouped heads); with latent attention rank + rotary numbers. An encoder-decoder model stores the same
/// amount again for a source of `context` tokens, and each MTP module has its own cache. Recurrent states are
/// not counted (state_bytes).
double cache_bytes(const Transformer& model, double context, const Precision& precision);

/// One run: `tokens` positions of each of `batch` sequences, each with `context` tokens before them. For
/// heads that draft in one run, `tokens` is the number of drafted tokens.
struct Run {
  double tokens = 1;
  double batch = 1;
  double context = 0;
  double states = 1;  ///< recurrent states that it writes for each sequence: one after each draft
};

struct RunWork {
  double flops = 0;
  double bytes = 0;  ///< read and written

  double intensity() const { return flops / bytes; }  ///< FLOP per byte
};

/// Returns the work of a run. FLOPs: 2 per active parameter and token, and 4 heads head_size per layer, token
/// and attended token (Chowdhery et al. 2022, appendix B, forward pass); with latent attention 2 heads (2
/// rank + rotary), since engines decode with the up-projections absorbed (DeepSeek-V2, section 2.1.2). Bytes:
/// the weights once (of experts only those touched); the KV cache of every sequence once; the new tokens'
/// part of it written; recurrent states read once, and as many written as `states` says. Activations are left
/// out.
/// Medusa: `tokens` heads are read and multiplied once. DFlash: its layers run over tokens + 1 positions;
/// `fc` and the keys and values also run over the tokens + 1 positions that the target has just verified, as
/// vLLM pads them (v1/spec_decode/dflash.py); the output matrix runs over `tokens`.
RunWork work(const Transformer& model, const Run& run, const Precision& precision);

/// A device, or several in tensor parallel, with efficiencies and overheads. These are assumptions, not data:
/// measure yours.
struct Machine {
  Device device;
  int devices = 1;
  Precision precision;
  double bandwidth_efficiency = 0.8;
  double flops_efficiency = 0.7;
  double run_overhead = 100e-6;   ///< seconds per run: launch, sampling, host
  double layer_overhead = 5e-6;   ///< seconds per layer: its kernels, in sequence
  double reduce_latency = 10e-6;  ///< seconds per all-reduce, in addition to its bytes
  int states = 0;  ///< recurrent states kept per sequence; 0: one, and another for each draft of a round
};

/// Returns FLOP/s of all devices at this precision, before efficiency.
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

/// Return the cache's bytes, those of the recurrent states if rounds draft `gamma` tokens, and a run's work,
/// summed over all devices. Caches are split by heads: devices beyond `parts` of a mixer store and read
/// copies.
double cache_bytes(const Machine& machine, const Transformer& model, double context);
double state_bytes(const Machine& machine, const Transformer& model, double gamma);
RunWork work(const Machine& machine, const Transformer& model, const Run& run);

/// Returns the time of a run. Tensor parallelism adds one all-reduce after each attention and each
/// feed-forward block (Shoeybi et al. 2019, section 3), of hidden 16-bit numbers per token; a ring moves 2 (d
/// - 1) / d of them over each link (Patarasuk and Yuan 2009). Layers of all Medusa heads of a run count,
/// since they run in sequence.
RunTime run_time(const Machine& machine, const Transformer& model, const Run& run);

/// Returns the time in which a drafter reads `run.tokens` known tokens to keep its cache complete: a prompt,
/// or the token of a round without drafts. A model, EAGLE-3 and MTP run over them; DFlash runs only `fc` and
/// its keys and values; Medusa has no cache and takes no time.
RunTime reading_time(const Machine& machine, const Transformer& model, const Run& run);

}  // namespace speclab
