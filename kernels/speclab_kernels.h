/* Exact verification of drafted tokens on a GPU or, for tests, on the CPU, for C and for every language
 * that can call it.
 * .
 * A program fills in a speclab_verify_batch with raw device pointers, allocates a workspace once, and
 * calls speclab_verify on a stream. The call reads nothing from the device and does not wait for it, so
 * that it can be captured in a CUDA graph. Any thread may call the functions. */
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

/* Of this interface: major * 10000 + minor * 100 + patch. Minor versions add functions and fields. */
#define SPECLAB_KERNELS_VERSION 200

/* The statuses that functions return. speclab_last_error has a sentence for all but speclab_ok. */
typedef int32_t speclab_status;
enum {
  speclab_ok = 0,
  speclab_invalid_argument = 1, /* nothing was launched */
  speclab_cuda_error = 2,       /* CUDA refused, there is no device, or the library was built without CUDA */
  speclab_out_of_memory = 3     /* out of host memory */
};

/* Formats of logits. */
enum { speclab_f32 = 0, speclab_bf16 = 1, speclab_f16 = 2 };

/* The rules: token by token (exact), lenient (appendix A.5 of Leviathan et al. 2023, not exact), and block
 * verification (Sun et al. 2024, exact). */
enum { speclab_token = 0, speclab_lenient = 1, speclab_block = 2 };

/* The residual of lenient verification: (p - q)+, (p - l q)+, or p. */
enum { speclab_target_minus_draft = 0, speclab_literal = 1, speclab_target = 2 };

/* The numbers that rows hold. */
enum { speclab_logits = 0, speclab_probabilities = 1 };

/* How ties share the probability of a row at temperature 0: all largest logits share it equally, or the
 * lowest id of them gets it. */
enum { speclab_ties_shared = 0, speclab_ties_lowest = 1 };

/* Bits of speclab_verify_batch.flags. */
enum {
  speclab_damaged_row = 1,         /* a row that mattered holds NaN or +inf, or sums to 0: next is -2 */
  speclab_draft_without_mass = 2,  /* the draft gives a drafted token probability 0: it was rejected */
  speclab_token_out_of_range = 4,  /* a drafted id is not in the vocabulary: it was rejected */
  speclab_length_out_of_range = 8, /* lengths[request] is not in 0..gamma: nothing was done, next is -2 */
  speclab_zero_residual = 16,      /* a rejection left no residual: the target was sampled */
  speclab_invalid_tree = 32        /* trees only: a parent does not come before its node, or draft_row is out
                                      of range: nothing was done, next is -2 */
};

/* How the children of a node of a tree were drafted: each from the draft's row without the siblings before
 * it, or each from the row as it is. */
enum { speclab_without_replacement = 0, speclab_independent = 1 };

/* How trees are verified, exactly: from the root to the leaves, or from the leaves to the root (Weng et
 * al. 2025, "Traversal verification"), which accepts more tokens on average and reads more rows. */
enum { speclab_recursive_rejection = 0, speclab_traversal = 1 };

/* The names follow C's style. NOLINTBEGIN(readability-identifier-naming) */

/* Logits [requests, positions, vocab]; strides count elements, and the last dimension is dense. */
typedef struct speclab_rows {
  const void* data;
  int64_t request_stride;
  int64_t row_stride;
} speclab_rows;

/* The options that turn logits z into probabilities: softmax of z / temperature over the ids with z >=
 * cutoff. Arrays are [requests, positions], dense; null means temperature 1, no cut-off, and an unknown
 * log-sum-exp. A temperature that is negative, infinite or NaN makes its row a damaged one. With
 * log_sum_exp, ln of the sum of exp(z / temperature) over the ids kept, most rows need not be read; a row
 * at temperature 0 that has it counts as damaged. */
typedef struct speclab_row_options {
  const float* temperature;
  const float* cutoff;
  const float* log_sum_exp;
} speclab_row_options;

/* The address of a request's random numbers. The same address gives the same tokens anywhere in a batch. */
typedef struct speclab_address {
  uint64_t seed;
  uint32_t trial;
  uint32_t round;
} speclab_address;

/* An array with an entry for each request and position, which is element (index[request], or without an
 * index request) * request_stride + position * row_stride. Strides count elements and may be 0. Padded,
 * flattened (an index of cumulative counts) and slotted arrays have this form. The index is trusted, as
 * pointers are. */
typedef struct speclab_view {
  const void* data;
  const int32_t* index; /* [requests], or null */
  int64_t request_stride;
  int64_t row_stride;
} speclab_view;

/* A batch of requests, each with up to gamma drafted tokens. Fill it with zeros first, then set
 * struct_size and the fields you need. All pointers are to memory of the current device. Uniforms are not
 * checked: others and NaN decide, too, without a flag, and tokens then lack the target's distribution. */
typedef struct speclab_verify_batch {
  size_t struct_size;     /* sizeof(speclab_verify_batch); never above 4096 */
  int32_t implementation; /* 0: fused, exact; others: speclab_implementation_name */
  int32_t requests;
  int32_t gamma; /* 0 to 256; block verification: 0 to 64 */
  int32_t vocab; /* 1 to 2^21 */
  int32_t target_dtype;
  int32_t draft_dtype;  /* if not target_dtype, other kernels run; so with the row kinds below */
  int32_t method;       /* speclab_token, ... */
  int32_t residual;     /* for speclab_lenient */
  double lenience;      /* for speclab_lenient: above 0, at most 1 */
  double sigmoid_alpha; /* for the implementation wagner-sigmoid: alpha < beta */
  double sigmoid_beta;
  speclab_rows target; /* [requests, gamma + 1, vocab] */
  speclab_rows draft;  /* [requests, gamma, vocab]; data null: each draft was certain */
  speclab_row_options target_options;
  speclab_row_options draft_options;
  const int32_t* drafted;           /* [requests, gamma] */
  const int32_t* lengths;           /* [requests] drafted tokens of each, 0 to gamma; null: gamma */
  const speclab_address* addresses; /* [requests]; either these ... */
  const double* uniforms; /* ... or [requests, gamma + 1] in [0, 1): acceptance draws, then the next token */
  int32_t* accepted;      /* out: [requests] drafted tokens accepted */
  int32_t* next;          /* out: [requests] the token after them, or -2 */
  uint32_t* flags;        /* out, or null: [requests] */
  int32_t* tokens;        /* out, or null: [requests, gamma + 1] accepted tokens, next, and -1 after them */
  int32_t* counts;        /* out, or null: [requests] number of tokens among them */

  /* All fields below may be zero. */
  const int32_t* target_index; /* the index of target and draft as views: flattened or slotted rows */
  const int32_t* draft_index;
  /* speclab_logits, ...; probabilities are taken as they are, without options. Of them, and of rows with
   * log_sum_exp, only what decides is looked at: the drafted tokens' numbers, and both whole rows from which
   * a token is drawn. A negative probability, infinity or NaN there makes the row a damaged one. */
  int32_t target_kind;
  int32_t draft_kind;
  int32_t ties;        /* speclab_ties_shared, ... */
  int32_t draft_vocab; /* ids of the draft's rows, at most vocab; 0: vocab */
  /* [vocab], or null: entry x is the place of the target's id x in the draft's rows; if it is outside of
   * them, such as -1, the draft gives x probability 0. */
  const int32_t* draft_place;
  speclab_view mask; /* uint32: ids that the target may emit, bit x % 32 of word x / 32 of a row */
  const int32_t*
      cumulative;           /* [requests + 1], instead of lengths: cumulative counts of drafted tokens, ... */
  int32_t cumulative_extra; /* ... or, with 1, of target rows, one more per request */
  int32_t reserved;         /* 0 */
  speclab_view seeds;       /* uint64, and positions, int64; [requests], instead of addresses: they stand */
  speclab_view positions;   /* for {seed, low half, high half}. No two requests may share both. */
  const int32_t* bonus; /* [requests], or null: the token after the last drafted one, drawn elsewhere; then
                           the target has no row there */
  float* log_probabilities; /* out, or null: [requests, gamma + 1] ln of the tokens' target probabilities, 0
                               after them, NaN for a bonus */
  float* log_sum_exps; /* out, or null: [requests, gamma + 1] ln of the sum that divides the target's row,
                          at temperature 0 its largest logit; 0 after them, NaN for a bonus */
  /* If data is not null, a view replaces the array of the same name. */
  speclab_view drafted_view;
  speclab_view target_temperature;
  speclab_view target_cutoff;
  speclab_view target_log_sum_exp;
  speclab_view draft_temperature;
  speclab_view draft_cutoff;
  speclab_view draft_log_sum_exp;
  /* Cut-offs of the target's rows, which one more launch finds. After temperature, mask and cut-off: the
   * top_k (int32) largest logits stay, 0 for all; of those, the fewest likeliest ids that have the share
   * top_p (float, in (0, 1]) of their probability; of those, the ids with at least min_p (float, in [0,
   * 1]) of the likeliest id's probability. Ids as likely as the last one kept are kept. A number out of
   * range makes its row a damaged one. */
  speclab_view top_k;
  speclab_view top_p;
  speclab_view min_p;
} speclab_verify_batch;

/* A batch of draft trees. Fill it with zeros first, then set struct_size and the fields you need. Node -1
 * is the context, and position i + 1 follows node i. Fields of `batch`:
 * - gamma: nodes of a request, at most, 0 to 256; lengths or cumulative counts tell how many each has
 * - target: row i + 1 is the target's after node i, row 0 after the context
 * - draft: the children of node i were drawn from row i + 1, or the row that draft_row names; rows of
 *   leaves are not read. data null: children were chosen, not drawn; each is verified as a certain draft
 * - drafted: the token of each node
 * - uniforms: one for the acceptance draw of each node, then one for the next token
 * - accepted, tokens, counts: of the accepted path
 * - method: must be speclab_token, since trees have tree_method; the implementation is ignored
 * - bonus, log_probabilities, log_sum_exps, top_k, top_p, min_p: must be null */
typedef struct speclab_tree_batch {
  size_t struct_size; /* sizeof(speclab_tree_batch); never above 4096 */
  const speclab_verify_batch* batch;
  /* int32 [requests, gamma], or one tree with a request_stride of 0: the parent of each node, from -1 to
   * its own number - 1. Siblings are tried in the order of their numbers. */
  speclab_view parents;
  int32_t siblings;       /* speclab_without_replacement, ... */
  int32_t draft_rows;     /* draft rows per request; 0: gamma */
  speclab_view draft_row; /* int32 [requests, gamma], or data null: entry i is the row after node i - 1;
                             entries of leaves are not read */
  int32_t* path;          /* out, or null: [requests, gamma] the accepted nodes, and -1 after them */
  int32_t tree_method;    /* speclab_recursive_rejection, ...; speclab_traversal needs children drawn without
                             replacement */
  int32_t reserved;       /* 0 */

  /* All fields below may be zero. Device memory, aligned to 256 bytes, of at least as many bytes as
   * speclab_verify_tree_workspace_bytes says. With it, one more launch sums the rows after all nodes that
   * have children, before the walk begins. It serves one batch at a time; its contents do not matter. */
  void* workspace;
  size_t workspace_bytes;
} speclab_tree_batch;

/* NOLINTEND(readability-identifier-naming) */

/* Returns the library's SPECLAB_KERNELS_VERSION. The header's may be older or newer; struct_size tells the
 * library which. */
SPECLAB_API uint32_t speclab_kernels_version(void);

/* Returns this thread's last failure as a sentence; empty before any failure. Valid until this thread's
 * next call. */
SPECLAB_API const char* speclab_last_error(void);

/* Returns the name of the current CUDA device, valid until this thread's next call; null if there is none,
 * and then speclab_last_error has the reason. */
SPECLAB_API const char* speclab_device_name(void);

/* Returns the name of an implementation, such as "fused"; null for an unknown number. */
SPECLAB_API const char* speclab_implementation_name(int32_t implementation);

/* Computes the bytes of workspace that a batch needs. They depend on sizes, the rule and which optional
 * pointers are null; pointers are not used otherwise. Works without a device. */
SPECLAB_API speclab_status speclab_verify_workspace_bytes(const speclab_verify_batch* batch, size_t* bytes);

/* Enqueues the verification on a stream (a cudaStream_t; null is the default stream). The workspace is
 * device memory aligned to 256 bytes and serves one batch at a time; its contents before the call do not
 * matter. Sizes, strides, alignment, null pointers and overlapping memory are checked before anything is
 * launched. */
SPECLAB_API speclab_status speclab_verify(const speclab_verify_batch* batch, void* workspace,
                                          size_t workspace_bytes, void* stream);

/* Verifies a batch on the CPU, without a device: all pointers are to host memory, and the work is done on
 * return. With emulate = 0 the program that defines the answer decides, in double precision. Otherwise an
 * emulator runs the kernels' own source thread by thread: this gives the GPU's answer except for the
 * rounding of its exponential, and takes milliseconds per request. The Python package's library has no
 * emulator and refuses emulate != 0. The definition does not report speclab_zero_residual, which rounding
 * decides. */
SPECLAB_API speclab_status speclab_verify_on_cpu(const speclab_verify_batch* batch, int32_t emulate);

/* Computes the bytes of workspace that trees of few rows can use; 0: none. They depend on sizes, formats, the
 * method and which optional pointers are null. Works without a device. */
SPECLAB_API speclab_status speclab_verify_tree_workspace_bytes(const speclab_tree_batch* tree, size_t* bytes);

/* Verify trees: on a stream of a device of compute capability 9.0 or above, and on the CPU. */
SPECLAB_API speclab_status speclab_verify_tree(const speclab_tree_batch* tree, void* stream);
SPECLAB_API speclab_status speclab_verify_tree_on_cpu(const speclab_tree_batch* tree, int32_t emulate);

#ifdef __cplusplus
}
#endif

#endif
