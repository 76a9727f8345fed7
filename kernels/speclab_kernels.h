/* Exact verification of drafted tokens on a GPU or, for tests, on the CPU, for C and for every language that
 * can call it.
 *
 * A program fills in a speclab_verify_batch with raw device pointers, allocates a workspace once, and calls
 * speclab_verify on a stream. Nothing is read from the device, nothing waits for it, and the call can be
 * captured in a CUDA graph. Functions may be called from any thread.
 */
#ifndef SPECLAB_KERNELS_H
#define SPECLAB_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SPECLAB_API __attribute__((visibility("default")))
#else
#define SPECLAB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Major * 10000 + minor * 100 + patch. */
#define SPECLAB_KERNELS_VERSION 100

/* What functions return. speclab_last_error has a sentence for all but speclab_ok. */
typedef int32_t speclab_status;
enum {
  speclab_ok = 0,
  speclab_invalid_argument = 1, /* nothing was launched */
  speclab_cuda_error = 2,       /* CUDA refused, there is no device, or the library was built without CUDA */
  speclab_out_of_memory = 3     /* of the host */
};

/* Formats of logits. */
enum { speclab_f32 = 0, speclab_bf16 = 1, speclab_f16 = 2 };

/* Rules: token by token (exact), lenient (appendix A.5 of Leviathan et al. 2023, not exact), and block
 * verification (Sun et al. 2024, exact). */
enum { speclab_token = 0, speclab_lenient = 1, speclab_block = 2 };

/* The residual of lenient verification: (p - q)+, (p - l q)+, or p. */
enum { speclab_target_minus_draft = 0, speclab_literal = 1, speclab_target = 2 };

/* What rows hold. */
enum { speclab_logits = 0, speclab_probabilities = 1 };

/* Whose the probability of a row at temperature 0 is: of all the largest logits alike, or of the lowest id.
 */
enum { speclab_ties_shared = 0, speclab_ties_lowest = 1 };

/* Bits of speclab_verify_batch.flags. */
enum {
  speclab_damaged_row = 1,         /* a row that mattered holds NaN or +inf, or has no mass: next is -2 */
  speclab_draft_without_mass = 2,  /* the draft gives a drafted token no mass: it was rejected */
  speclab_token_out_of_range = 4,  /* a drafted id is not in the vocabulary: it was rejected */
  speclab_length_out_of_range = 8, /* lengths[request] is not in 0..gamma: nothing was done, next is -2 */
  speclab_zero_residual = 16,      /* a rejection, but no residual: the target was sampled */
  speclab_invalid_tree = 32        /* of trees: a parent does not come before its node, or draft_row is out of
                                      range: nothing was done, next is -2 */
};

/* How the children of a node of a tree were drafted: each from the draft's row without the siblings before
 * it, or each from the row as it is. */
enum { speclab_without_replacement = 0, speclab_independent = 1 };

/* How trees are verified, exactly: from the root to the leaves, or from the leaves to the root (Weng et al.
 * 2025, "Traversal verification"), which accepts more tokens on average and reads more rows. */
enum { speclab_recursive_rejection = 0, speclab_traversal = 1 };

/* Names are C's. NOLINTBEGIN(readability-identifier-naming) */

/* Logits [requests, positions, vocab]: strides in elements, the last dimension is dense. */
typedef struct speclab_rows {
  const void* data;
  int64_t request_stride;
  int64_t row_stride;
} speclab_rows;

/* How logits z become probabilities: softmax of z / temperature over the ids with z >= cutoff. Arrays
 * [requests, positions], dense; null stands for temperature 1, no cut-off, and an unknown log-sum-exp. With
 * log_sum_exp, ln of the sum of exp(z / temperature) over the ids kept, most rows need not be read. */
typedef struct speclab_row_options {
  const float* temperature;
  const float* cutoff;
  const float* log_sum_exp;
} speclab_row_options;

/* Where a request's random numbers are. The same address gives the same tokens, wherever in a batch. */
typedef struct speclab_address {
  uint64_t seed;
  uint32_t trial;
  uint32_t round;
} speclab_address;

/* An array with an entry for each request and position: element (index[request], or without an index request)
 * * request_stride + position * row_stride, which count elements and may be 0. Padded, flattened (an index of
 * cumulative counts) and slotted arrays are of this form. The index is trusted, as pointers are. */
typedef struct speclab_view {
  const void* data;
  const int32_t* index; /* [requests], or null */
  int64_t request_stride;
  int64_t row_stride;
} speclab_view;

/* A batch of requests, each with up to gamma drafted tokens. Fill with zeros first, then set struct_size and
 * what is needed. All pointers are to memory of the current device. */
typedef struct speclab_verify_batch {
  size_t struct_size;     /* sizeof(speclab_verify_batch); never more than 4096 */
  int32_t implementation; /* 0: fused, exact; speclab_implementation_name tells the others */
  int32_t requests;
  int32_t gamma; /* 0 to 256; block verification: to 64 */
  int32_t vocab; /* 1 to 2^21 */
  int32_t target_dtype;
  int32_t draft_dtype;  /* another one than target_dtype, or rows as below, take kernels of their own */
  int32_t method;       /* speclab_token, ... */
  int32_t residual;     /* of speclab_lenient */
  double lenience;      /* of speclab_lenient: above 0, at most 1 */
  double sigmoid_alpha; /* of the implementation wagner-sigmoid: alpha < beta */
  double sigmoid_beta;
  speclab_rows target; /* [requests, gamma + 1, vocab] */
  speclab_rows draft;  /* [requests, gamma, vocab]; data null: each draft was certain */
  speclab_row_options target_options;
  speclab_row_options draft_options;
  const int32_t* drafted;           /* [requests, gamma] */
  const int32_t* lengths;           /* [requests] drafted tokens of each, 0 to gamma; null: gamma */
  const speclab_address* addresses; /* [requests]; either these ... */
  const double* uniforms; /* ... or [requests, gamma + 1] in [0, 1]: coins, then one for the next token */
  int32_t* accepted;      /* out: [requests] drafted tokens kept */
  int32_t* next;          /* out: [requests] the token after them, or -2 */
  uint32_t* flags;        /* out, or null: [requests] */
  int32_t* tokens;        /* out, or null: [requests, gamma + 1] the tokens kept, next, and -1 behind them */
  int32_t* counts;        /* out, or null: [requests] how many of them are tokens */

  /* All that follows may be zero. */
  const int32_t* target_index; /* the index of target and draft as views: flattened or slotted rows */
  const int32_t* draft_index;
  int32_t target_kind; /* speclab_logits, ...; probabilities are taken as they are, without options */
  int32_t draft_kind;
  int32_t ties;        /* speclab_ties_shared, ... */
  int32_t draft_vocab; /* ids of the draft's rows, at most vocab; 0: vocab */
  /* [vocab], or null: where the target's ids are in the draft's rows; outside of them, as -1 is, the draft
   * gives them probability 0. */
  const int32_t* draft_place;
  speclab_view mask; /* uint32: ids that the target may emit, bit x % 32 of word x / 32 of a row */
  const int32_t*
      cumulative; /* [requests + 1], in the place of lengths: cumulative counts of drafted tokens, ... */
  int32_t cumulative_extra; /* ... or with 1 of target rows, one more a request */
  int32_t reserved;         /* 0 */
  speclab_view seeds; /* uint64, and positions, int64; [requests], in the place of addresses: they stand */
  speclab_view positions; /* for {seed, low half, high half}. No two requests may share both. */
  const int32_t* bonus;   /* [requests], or null: next after the last drafted token, drawn elsewhere; then the
                             target has no row there */
  float* log_probabilities; /* out, or null: [requests, gamma + 1] ln of the tokens' target probabilities, 0
                               behind them, NaN of a bonus */
  float* log_sum_exps; /* out, or null: [requests, gamma + 1] ln of the sum that divides the target's row,
                          at temperature 0 its largest logit; 0 behind them, NaN of a bonus */
  /* Where data is not null, in the place of the array of that name. */
  speclab_view drafted_view;
  speclab_view target_temperature;
  speclab_view target_cutoff;
  speclab_view target_log_sum_exp;
  speclab_view draft_temperature;
  speclab_view draft_cutoff;
  speclab_view draft_log_sum_exp;
  /* Of the target's rows, found as cut-offs by one launch more. After temperature, mask and cut-off: the
   * top_k (int32) largest logits, 0 for all; of those the fewest likeliest with the share top_p (float, in
   * (0, 1]) of their probability; of those what has at least min_p (float, in [0, 1]) of the likeliest one's.
   * Ids as likely as the last one kept are kept. Other numbers make their row a damaged one. */
  speclab_view top_k;
  speclab_view top_p;
  speclab_view min_p;
} speclab_verify_batch;

/* A batch of draft trees. Fill with zeros first, then set struct_size and what is needed. Node -1 is the
 * context, and position i + 1 is what follows node i. Of `batch`:
 * - gamma: nodes of a request at most, 0 to 256; lengths or cumulative counts say how many each has
 * - target: row i + 1 is the target's after node i, row 0 after the context
 * - draft: row i + 1, or as draft_row says, is what the children of node i were drawn from; rows of leaves
 *   are not read. data null: children were chosen, not drawn; each is verified as a draft that was certain
 * - drafted: the token of each node
 * - uniforms: a coin for each node, then one for the next token
 * - accepted, tokens, counts: of the accepted path
 * - method: speclab_token, for trees have tree_method; the implementation is not looked at
 * - bonus, log_probabilities, log_sum_exps, top_k, top_p, min_p: null */
typedef struct speclab_tree_batch {
  size_t struct_size; /* sizeof(speclab_tree_batch); never more than 4096 */
  const speclab_verify_batch* batch;
  /* int32 [requests, gamma], or one tree with a request_stride of 0: the node before each, -1 to its own
   * number - 1. Siblings are tried in the order of their numbers. */
  speclab_view parents;
  int32_t siblings;       /* speclab_without_replacement, ... */
  int32_t draft_rows;     /* rows of the draft that a request has; 0: gamma */
  speclab_view draft_row; /* int32 [requests, gamma], or data null: which of them follows node i - 1, at i; of
                             leaves it is not read */
  int32_t* path;          /* out, or null: [requests, gamma] the accepted nodes, and -1 behind them */
  int32_t tree_method;    /* speclab_recursive_rejection, ...; speclab_traversal takes children drawn without
                             replacement alone */
  int32_t reserved;       /* 0 */
} speclab_tree_batch;

/* NOLINTEND(readability-identifier-naming) */

/* SPECLAB_KERNELS_VERSION of the library; the header's may be older or newer, as struct_size tells it. */
SPECLAB_API uint32_t speclab_kernels_version(void);

/* This thread's last failure as a sentence; empty before any. Valid until this thread's next call. */
SPECLAB_API const char* speclab_last_error(void);

/* Name of the current CUDA device, valid until this thread's next call; null where there is none, and then
 * speclab_last_error says why. */
SPECLAB_API const char* speclab_device_name(void);

/* Name of an implementation, such as "fused"; null for a number that is none. */
SPECLAB_API const char* speclab_implementation_name(int32_t implementation);

/* Bytes of workspace that a batch needs. Depends on sizes, the rule and which optional pointers are null;
 * pointers are not looked at otherwise. Works without a device. */
SPECLAB_API speclab_status speclab_verify_workspace_bytes(const speclab_verify_batch* batch, size_t* bytes);

/* Enqueues the verification on a stream (a cudaStream_t; null is the default stream). The workspace is device
 * memory aligned to 256 bytes and serves one batch at a time; what it holds before does not matter. Sizes,
 * strides, alignment, null pointers and overlapping memory are checked before anything is launched. */
SPECLAB_API speclab_status speclab_verify(const speclab_verify_batch* batch, void* workspace,
                                          size_t workspace_bytes, void* stream);

/* The same on the CPU, without a device: all pointers are to host memory, and the work is done on return.
 * With emulate = 0 by the program that defines the answer, in double precision; else by the kernels' own
 * source, which an emulator runs thread by thread: the GPU's answer but for the rounding of its exponential,
 * milliseconds a request. The Python package's library has no emulator and refuses emulate != 0. The
 * definition does not report speclab_zero_residual, which is a matter of rounding. */
SPECLAB_API speclab_status speclab_verify_on_cpu(const speclab_verify_batch* batch, int32_t emulate);

/* The same of trees: on a stream of a device of compute capability 9.0 or above, without a workspace, and on
 * the CPU. */
SPECLAB_API speclab_status speclab_verify_tree(const speclab_tree_batch* tree, void* stream);
SPECLAB_API speclab_status speclab_verify_tree_on_cpu(const speclab_tree_batch* tree, int32_t emulate);

#ifdef __cplusplus
}
#endif

#endif
