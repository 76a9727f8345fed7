#include "kernels/speclab_kernels.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "kernels/gpu/device.hpp"
#include "kernels/verify/reference.hpp"
#include "kernels/verify/tree_reference.hpp"
#include "kernels/verify/verify.hpp"
#include "kernels/verify/verify_tree.hpp"

namespace {

using namespace speclab;

static_assert(sizeof(speclab_address) == sizeof(RandomAddress) &&
              offsetof(speclab_address, trial) == offsetof(RandomAddress, trial) &&
              offsetof(speclab_address, round) == offsetof(RandomAddress, round));
static_assert(speclab_bf16 == static_cast<int>(Dtype::bf16) && speclab_f16 == static_cast<int>(Dtype::f16));
static_assert(speclab_lenient == static_cast<int>(KernelRule::lenient) &&
              speclab_block == static_cast<int>(KernelRule::block));
static_assert(speclab_probabilities == static_cast<int>(RowKind::probabilities) &&
              speclab_ties_lowest == static_cast<int>(Ties::lowest));
static_assert(speclab_literal == static_cast<int>(Residual::literal) &&
              speclab_target == static_cast<int>(Residual::target));
static_assert(int{speclab_damaged_row} == flag_invalid_row &&
              int{speclab_draft_without_mass} == flag_zero_draft_probability &&
              int{speclab_token_out_of_range} == flag_token_out_of_range &&
              int{speclab_length_out_of_range} == flag_length_out_of_range &&
              int{speclab_zero_residual} == flag_zero_residual &&
              int{speclab_invalid_tree} == flag_invalid_tree);
static_assert(speclab_independent == static_cast<int>(Siblings::independent) &&
              speclab_traversal == static_cast<int>(TreeMethod::traversal));

/// The name of a structure, and its size when it was first published. A structure only grows, at its end.
template <class Structure>
struct Published;
template <>
struct Published<speclab_verify_batch> {
  static constexpr const char* argument = "batch";
  static constexpr const char* name = "speclab_verify_batch";
  static constexpr std::size_t size = 216;
};
template <>
struct Published<speclab_tree_batch> {
  static constexpr const char* argument = "tree";
  static constexpr const char* name = "speclab_tree_batch";
  static constexpr std::size_t size = 96;
};
static_assert(Published<speclab_verify_batch>::size <= sizeof(speclab_verify_batch) &&
              Published<speclab_tree_batch>::size <= sizeof(speclab_tree_batch));

thread_local std::string last_error;
thread_local std::string device_name;

speclab_status failed(speclab_status status, const char* sentence) noexcept {
  try {
    last_error = sentence;
  } catch (...) {
    last_error.clear();
  }
  return status;
}

/// Turns every exception into a status: no exception leaves the library.
template <class Work>
speclab_status guarded(const Work& work) noexcept {
  try {
    work();
    return speclab_ok;
  } catch (const std::invalid_argument& error) {
    return failed(speclab_invalid_argument, error.what());
  } catch (const std::bad_alloc&) {
    return failed(speclab_out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    return failed(speclab_cuda_error, error.what());
  } catch (...) {
    return failed(speclab_cuda_error, "unknown error");
  }
}

/// Returns the caller's structure as this version's. Fields that an older header lacks are zero. Fields that
/// a newer header adds must be zero, since this library does not know their meaning.
template <class Structure>
Structure known_part(const Structure* given) {
  using Known = Published<Structure>;
  const std::string sizeof_name = std::string("sizeof(") + Known::name + ") is needed, ";
  if (given == nullptr)
    throw std::invalid_argument(std::string(Known::argument) + " is null: a " + Known::name + " is needed");
  const std::size_t size = given->struct_size;
  if (size < Known::size) {
    throw std::invalid_argument("struct_size is " + std::to_string(size) + ": " + sizeof_name +
                                std::to_string(Known::size) + " or more");
  }
  // All `size` bytes are read, so that an impossible size is refused first. No version will have more than
  // `largest_size`; a size that was never set is often larger.
  constexpr std::size_t largest_size = 4096;
  if (size > largest_size) {
    throw std::invalid_argument("struct_size is " + std::to_string(size) + ": " + sizeof_name +
                                "and no version has more than " + std::to_string(largest_size));
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  if (std::any_of(bytes + std::min(size, sizeof *given), bytes + size,
                  [](unsigned char byte) { return byte != 0; })) {
    throw std::invalid_argument(
        "struct_size is " + std::to_string(size) + " and this library knows " +
        std::to_string(sizeof *given) +
        ": what follows must be zero; a field of a newer header was set, so use a newer library");
  }
  Structure known{};
  std::memcpy(&known, given, std::min(size, sizeof known));
  return known;
}

template <class T>
View<const T> view_of(const speclab_view& view) {
  const std::int64_t stride = std::max(view.request_stride, -INT64_MAX);  // INT64_MIN would mean dense
  return {static_cast<const T*>(view.data), view.index, stride, view.row_stride};
}

/// Returns the view if it has data, else the array as a view.
template <class T>
View<const T> view_or(const speclab_view& view, const T* array) {
  return view.data == nullptr ? View<const T>(array) : view_of<T>(view);
}

void refuse_reserved(std::int32_t reserved) {
  if (reserved != 0)
    throw std::invalid_argument("reserved is " + std::to_string(reserved) + ": it must be 0");
}

VerifyBatch batch_of(const speclab_verify_batch& from) {
  refuse_reserved(from.reserved);
  VerifyBatch batch;
  batch.requests = from.requests;
  batch.gamma = from.gamma;
  batch.vocab = from.vocab;
  batch.target = {from.target.data,           static_cast<Dtype>(from.target_dtype),
                  from.target.request_stride, from.target.row_stride,
                  from.target_index,          static_cast<RowKind>(from.target_kind)};
  batch.draft = {from.draft.data,           static_cast<Dtype>(from.draft_dtype),
                 from.draft.request_stride, from.draft.row_stride,
                 from.draft_index,          static_cast<RowKind>(from.draft_kind)};
  batch.target_options = {view_or(from.target_temperature, from.target_options.temperature),
                          view_or(from.target_cutoff, from.target_options.cutoff),
                          view_or(from.target_log_sum_exp, from.target_options.log_sum_exp)};
  batch.draft_options = {view_or(from.draft_temperature, from.draft_options.temperature),
                         view_or(from.draft_cutoff, from.draft_options.cutoff),
                         view_or(from.draft_log_sum_exp, from.draft_options.log_sum_exp)};
  batch.ties = static_cast<Ties>(from.ties);
  batch.draft_vocab = from.draft_vocab;
  batch.draft_place = from.draft_place;
  batch.mask = view_of<std::uint32_t>(from.mask);
  batch.top_k = view_of<std::int32_t>(from.top_k);
  batch.top_p = view_of<float>(from.top_p);
  batch.min_p = view_of<float>(from.min_p);
  batch.cumulative = from.cumulative;
  batch.cumulative_extra = from.cumulative_extra;
  batch.seeds = view_of<std::uint64_t>(from.seeds);
  batch.positions = view_of<std::int64_t>(from.positions);
  batch.bonus = from.bonus;
  batch.log_probabilities = from.log_probabilities;
  batch.log_sum_exps = from.log_sum_exps;
  batch.drafted = view_or(from.drafted_view, from.drafted);
  batch.lengths = from.lengths;
  batch.rule = {static_cast<KernelRule>(from.method), from.lenience, static_cast<Residual>(from.residual),
                from.sigmoid_alpha, from.sigmoid_beta};
  batch.addresses = reinterpret_cast<const RandomAddress*>(from.addresses);
  batch.uniforms = from.uniforms;
  batch.accepted = from.accepted;
  batch.next = from.next;
  batch.flags = from.flags;
  batch.tokens = from.tokens;
  batch.counts = from.counts;
  return batch;
}

TreeBatch tree_of(const speclab_tree_batch& from) {
  refuse_reserved(from.reserved);
  TreeBatch tree;
  tree.batch = batch_of(known_part(from.batch));
  tree.parents = view_of<std::int32_t>(from.parents);
  tree.siblings = static_cast<Siblings>(from.siblings);
  tree.draft_rows = from.draft_rows;
  tree.draft_row = view_of<std::int32_t>(from.draft_row);
  tree.path = from.path;
  tree.method = static_cast<TreeMethod>(from.tree_method);
  tree.workspace = from.workspace;
  tree.workspace_bytes = from.workspace_bytes;
  return tree;
}

std::size_t& room_for_answer(std::size_t* bytes) {
  if (bytes == nullptr) throw std::invalid_argument("bytes is null: room for the answer is needed");
  return *bytes;
}

/// Returns the flags of a request, computed from its verdict and from the rows at the position where it
/// ended.
std::uint32_t flags_of(const VerifyBatch& batch, std::int64_t request, const ReferenceDecision& verdict) {
  const std::int32_t length = batch.length(request);
  if (length < 0 || length > batch.gamma) return flag_length_out_of_range;
  std::uint32_t flags = verdict.next == invalid_token ? std::uint32_t{flag_invalid_row} : 0;
  if (verdict.accepted == length) return flags;
  const Token rejected = batch.drafted_token(request, verdict.accepted);
  if (rejected < 0 || rejected >= batch.vocab) {
    flags |= flag_token_out_of_range;
  } else if (!batch.certain_drafts() &&
             probabilities(batch, false, request, verdict.accepted)[static_cast<std::size_t>(rejected)] ==
                 0) {
    flags |= flag_zero_draft_probability;
  }
  return flags;
}

/// Writes the logarithms of the emitted tokens; `write_result` has written the entries after them.
void write_logs(const VerifyBatch& batch, std::int64_t request, const ReferenceDecision& verdict) {
  const std::int32_t count = verdict.accepted + (verdict.next == invalid_token ? 0 : 1);
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int64_t at = request * (batch.gamma + 1) + i;
    const bool bonus = i == batch.length(request) && batch.bonus != nullptr;
    const Token token = i < verdict.accepted ? batch.drafted_token(request, i) : verdict.next;
    const TokenLogs logs = bonus ? TokenLogs{} : token_logs(batch, request, i, token);
    if (batch.log_probabilities != nullptr)
      batch.log_probabilities[at] = static_cast<float>(logs.log_probability);
    if (batch.log_sum_exps != nullptr) batch.log_sum_exps[at] = static_cast<float>(logs.log_sum_exp);
  }
}

void run_definition(Implementation implementation, const VerifyBatch& batch) {
  const auto verdicts = implementation == Implementation::wagner_sigmoid ? verify_sigmoid_reference(batch)
                                                                         : verify_reference(batch);
  for (std::int64_t request = 0; request < batch.requests; ++request) {
    const ReferenceDecision& verdict = verdicts[static_cast<std::size_t>(request)];
    write_result(batch, request, verdict.accepted, verdict.next, flags_of(batch, request, verdict));
    write_logs(batch, request, verdict);
  }
}

}  // namespace

uint32_t speclab_kernels_version(void) { return SPECLAB_KERNELS_VERSION; }

const char* speclab_last_error(void) { return last_error.c_str(); }

const char* speclab_device_name(void) {
  const speclab_status status = guarded([] {
    const auto device = current_device();
    if (!device) throw std::runtime_error(why_no_device());
    device_name = device->name;
  });
  return status == speclab_ok ? device_name.c_str() : nullptr;
}

const char* speclab_implementation_name(int32_t implementation) {
  for (const ImplementationInfo& info : implementations()) {
    if (static_cast<int32_t>(info.implementation) == implementation) return info.name;
  }
  return nullptr;
}

speclab_status speclab_verify_workspace_bytes(const speclab_verify_batch* batch, size_t* bytes) {
  return guarded([&] {
    const speclab_verify_batch known = known_part(batch);
    room_for_answer(bytes) =
        verify_workspace_bytes(batch_of(known), static_cast<Implementation>(known.implementation));
  });
}

speclab_status speclab_verify(const speclab_verify_batch* batch, void* workspace, size_t workspace_bytes,
                              void* stream) {
  return guarded([&] {
    const speclab_verify_batch known = known_part(batch);
    verify(batch_of(known), workspace, workspace_bytes, static_cast<CUstream_st*>(stream),
           static_cast<Implementation>(known.implementation));
  });
}

speclab_status speclab_verify_on_cpu(const speclab_verify_batch* batch, int32_t emulate) {
  return guarded([&] {
    const speclab_verify_batch known = known_part(batch);
    const VerifyBatch verified = batch_of(known);
    const auto implementation = static_cast<Implementation>(known.implementation);
    if (const auto error = batch_error(implementation, verified)) throw std::invalid_argument(*error);
    if (verified.requests == 0) return;
    if (emulate != 0) {
      run_emulated(implementation, verified);
    } else {
      run_definition(implementation, verified);
    }
  });
}

speclab_status speclab_verify_tree_workspace_bytes(const speclab_tree_batch* tree, size_t* bytes) {
  return guarded([&] { room_for_answer(bytes) = tree_workspace_bytes(tree_of(known_part(tree))); });
}

speclab_status speclab_verify_tree(const speclab_tree_batch* tree, void* stream) {
  return guarded([&] { verify_tree(tree_of(known_part(tree)), static_cast<CUstream_st*>(stream)); });
}

speclab_status speclab_verify_tree_on_cpu(const speclab_tree_batch* tree, int32_t emulate) {
  return guarded([&] {
    TreeBatch verified = tree_of(known_part(tree));
    if (const auto error = tree_error(verified)) throw std::invalid_argument(*error);
    if (tree_workspace_bytes(verified) == 0) verified.workspace = nullptr;
    if (emulate != 0) {
      run_tree_emulated(verified);
      return;
    }
    const auto verdicts = verify_tree_reference(verified);
    for (std::int64_t request = 0; request < verified.batch.requests; ++request) {
      const TreeReferenceDecision& verdict = verdicts[static_cast<std::size_t>(request)];
      write_tree_result(verified, request, verdict.path.data(),
                        static_cast<std::int32_t>(verdict.path.size()), verdict.next, verdict.flags);
    }
  });
}
