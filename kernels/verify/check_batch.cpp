#include "kernels/verify/check_batch.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <vector>

namespace speclab {

namespace {

using Error = std::optional<std::string>;

/// Bounds every product of sizes and strides well inside 64 bits.
constexpr std::int64_t most_elements = std::int64_t{1} << 57;

std::string hex(std::uintptr_t address) {
  char text[2 + 16 + 1];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, address);
  return text;
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

Error range_error(const char* field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return std::nullopt;
  return std::string(field) + " is " + std::to_string(value) + ": " + std::to_string(least) + " to " +
         std::to_string(most) + " are allowed";
}

bool has_drafts(const VerifyBatch& batch) { return batch.gamma > 0 && !batch.certain_drafts(); }

Error rule_error(Implementation implementation, const VerifyRule& rule) {
  if (Error error = range_error("rule.method", static_cast<std::int64_t>(rule.method), 0, 2)) {
    return *error + " (token, lenient, block)";
  }
  if (Error error = range_error("rule.residual", static_cast<std::int64_t>(rule.residual), 0, 2)) {
    return *error + " (target_minus_draft, literal, target)";
  }
  if (rule.method == KernelRule::lenient && !(rule.lenience > 0 && rule.lenience <= 1)) {
    return "rule.lenience is " + decimal(rule.lenience) +
           ": above 0 and at most 1 is allowed, and 1 is no lenience";
  }
  if (implementation == Implementation::wagner_sigmoid) {
    const double width = rule.sigmoid_beta - rule.sigmoid_alpha;
    // Infinite or NaN constants fail here, too.
    if (!(width > 0 && width - width == 0)) {
      return "rule.sigmoid_alpha is " + decimal(rule.sigmoid_alpha) + " and rule.sigmoid_beta " +
             decimal(rule.sigmoid_beta) + ": finite numbers are allowed, alpha below beta";
    }
  }
  return std::nullopt;
}

Error launch_error(const VerifyBatch& batch, const simt::Launch& launch) {
  if (launch.blocks > simt::most_blocks) {
    return "requests is " + std::to_string(batch.requests) + ": with gamma " + std::to_string(batch.gamma) +
           " and vocab " + std::to_string(batch.vocab) + " the kernel \"" + launch.kernel + "\" would need " +
           std::to_string(launch.blocks) + " blocks, and " + std::to_string(simt::most_blocks) +
           " can be launched: split the batch";
  }
  if (launch.dynamic_shared > simt::dynamic_shared_limit) {
    return "vocab is " + std::to_string(batch.vocab) + ": the kernel \"" + launch.kernel + "\" would need " +
           std::to_string(launch.dynamic_shared) + " bytes of shared memory in a block, and " +
           std::to_string(simt::dynamic_shared_limit) + " is the most: use another implementation";
  }
  return std::nullopt;
}

/// Strides of dimensions that have one element are never used, and frameworks leave anything in them.
Error stride_error(const std::string& name, const LogitRows& rows, std::int64_t requests,
                   std::int64_t positions, std::int64_t vocab) {
  const auto check = [&](const char* which, std::int64_t stride, std::int64_t count) -> Error {
    if (count <= 1) return std::nullopt;
    const std::string found = name + which + " is " + std::to_string(stride);
    if (stride < vocab) {
      return found + ", but a row has vocab = " + std::to_string(vocab) +
             " logits: strides count elements, not bytes, and rows may not overlap";
    }
    if (stride > most_elements / count) return found + ": more memory than there can be";
    return std::nullopt;
  };
  if (Error error = check(".row_stride", rows.row_stride, positions)) return error;
  if (Error error = check(".request_stride", rows.request_stride, requests)) return error;
  if (requests <= 1 || positions <= 1) return std::nullopt;
  // Whichever dimension is the outer one.
  const bool by_request = rows.request_stride >= (positions - 1) * rows.row_stride + vocab;
  const bool by_position = rows.row_stride >= (requests - 1) * rows.request_stride + vocab;
  if (by_request || by_position) return std::nullopt;
  return name + ".request_stride is " + std::to_string(rows.request_stride) + " and " + name +
         ".row_stride " + std::to_string(rows.row_stride) + ", so that the " + std::to_string(positions) +
         " rows of one request overlap the next one's: request_stride of " +
         std::to_string(positions * rows.row_stride) + " or more is needed";
}

/// Memory that a kernel touches.
struct Memory {
  std::string name;
  const void* data;
  std::uint64_t elements;
  std::size_t element_bytes;
  std::size_t alignment;
  bool written;

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(data); }
  std::uint64_t bytes() const { return elements * element_bytes; }
  std::string where() const { return name + " (" + hex(begin()) + " to " + hex(begin() + bytes()) + ")"; }
};

template <class T>
Memory array(std::string name, T* data, std::int64_t elements) {
  return {std::move(name), data,       static_cast<std::uint64_t>(elements),
          sizeof(T),       alignof(T), !std::is_const_v<T>};
}

Memory logits(std::string name, const LogitRows& rows, std::int64_t requests, std::int64_t positions,
              std::int64_t vocab) {
  const std::int64_t last = (requests > 1 ? (requests - 1) * rows.request_stride : 0) +
                            (positions > 1 ? (positions - 1) * rows.row_stride : 0);
  const auto bytes = static_cast<std::size_t>(dtype_bytes(rows.dtype));
  return {std::move(name), rows.data, static_cast<std::uint64_t>(last + vocab), bytes, bytes, false};
}

/// Everything that is not null. Strides have been checked.
std::vector<Memory> memory_of(const VerifyBatch& batch, const void* workspace, std::size_t needed) {
  const std::int64_t requests = batch.requests;
  const std::int64_t drafts = requests * batch.gamma;
  const std::int64_t rows = drafts + requests;
  std::vector<Memory> all{
      array("accepted", batch.accepted, requests),
      array("next", batch.next, requests),
      array("flags", batch.flags, requests),
      array("tokens", batch.tokens, rows),
      array("counts", batch.counts, requests),
      {"workspace", workspace, needed, 1, workspace_alignment, true},
      logits("target.data", batch.target, requests, batch.gamma + 1, batch.vocab),
      array("target_options.temperature", batch.target_options.temperature, rows),
      array("target_options.cutoff", batch.target_options.cutoff, rows),
      array("target_options.log_sum_exp", batch.target_options.log_sum_exp, rows),
      array("lengths", batch.lengths, requests),
      array("addresses", batch.addresses, requests),
      array("uniforms", batch.uniforms, rows),
  };
  if (batch.gamma > 0) all.push_back(array("drafted", batch.drafted, drafts));
  if (has_drafts(batch)) {
    all.push_back(logits("draft.data", batch.draft, requests, batch.gamma, batch.vocab));
    all.push_back(array("draft_options.temperature", batch.draft_options.temperature, drafts));
    all.push_back(array("draft_options.cutoff", batch.draft_options.cutoff, drafts));
    all.push_back(array("draft_options.log_sum_exp", batch.draft_options.log_sum_exp, drafts));
  }
  std::erase_if(all, [](const Memory& memory) { return memory.data == nullptr || memory.bytes() == 0; });
  return all;
}

Error null_error(const VerifyBatch& batch) {
  const auto missing = [](const char* name, const char* what) {
    return std::string(name) + " is null: " + what;
  };
  if (batch.target.data == nullptr)
    return missing("target.data", "logits [requests, gamma + 1, vocab] are needed");
  if (batch.gamma > 0 && batch.drafted == nullptr)
    return missing("drafted", "ids [requests, gamma] are needed");
  if (batch.accepted == nullptr) return missing("accepted", "room for [requests] counts is needed");
  if (batch.next == nullptr) return missing("next", "room for [requests] ids is needed");
  if (batch.addresses == nullptr && batch.uniforms == nullptr) {
    return "addresses and uniforms are null: one of them is needed, as the source of randomness";
  }
  if (batch.addresses != nullptr && batch.uniforms != nullptr) {
    return "addresses and uniforms are both given: leave one of them null";
  }
  const RowOptions& draft = batch.draft_options;
  if (batch.gamma > 0 && batch.certain_drafts() &&
      (draft.temperature != nullptr || draft.cutoff != nullptr || draft.log_sum_exp != nullptr)) {
    return missing("draft.data",
                   "draft_options are given, so the draft's logits are needed; for drafts that "
                   "were certain leave both null");
  }
  return std::nullopt;
}

Error overlap_error(const std::vector<Memory>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      if (!all[i].written && !all[j].written) continue;
      if (all[i].begin() < all[j].begin() + all[j].bytes() &&
          all[j].begin() < all[i].begin() + all[i].bytes()) {
        return all[i].where() + " overlaps " + all[j].where() +
               ": outputs and the workspace need memory of their own";
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Error shape_error(Implementation implementation, const VerifyBatch& batch) {
  if (Error error = rule_error(implementation, batch.rule)) return error;
  const auto known = implementations();
  if (std::none_of(known.begin(), known.end(),
                   [&](const ImplementationInfo& info) { return info.implementation == implementation; })) {
    std::string names;
    for (const ImplementationInfo& info : known) {
      names += (names.empty() ? "" : ", ") + std::to_string(static_cast<int>(info.implementation)) + " " +
               info.name;
    }
    return "implementation is " + std::to_string(static_cast<int>(implementation)) + ": there are " + names;
  }
  if (Error error = range_error("requests", batch.requests, 0, INT32_MAX)) return error;
  if (Error error = range_error("gamma", batch.gamma, 0, most_drafted_by(batch.rule.method))) {
    return batch.rule.method == KernelRule::block ? *error + " by block verification" : error;
  }
  if (Error error = range_error("vocab", batch.vocab, 1, most_vocab)) return error;
  const char* const formats = " (f32, bf16, f16)";
  const auto target_dtype = static_cast<std::int64_t>(batch.target.dtype);
  if (Error error = range_error("target.dtype", target_dtype, 0, 2)) return *error + formats;
  if (has_drafts(batch)) {
    const auto draft_dtype = static_cast<std::int64_t>(batch.draft.dtype);
    if (Error error = range_error("draft.dtype", draft_dtype, 0, 2)) return *error + formats;
    if (draft_dtype != target_dtype) {
      return "draft.dtype is " + std::to_string(draft_dtype) + " and target.dtype " +
             std::to_string(target_dtype) + formats + ": both must be the same, so convert one of them";
    }
  }
  for (const simt::Launch& launch : layout_of(implementation, batch).launches) {
    if (Error error = launch_error(batch, launch)) return error;
  }
  return std::nullopt;
}

Error batch_error(Implementation implementation, const VerifyBatch& batch, const void* workspace,
                  std::size_t workspace_bytes) {
  if (Error error = shape_error(implementation, batch)) return error;
  if (batch.requests == 0) return std::nullopt;
  if (Error error = null_error(batch)) return error;
  if (Error error = stride_error("target", batch.target, batch.requests, batch.gamma + 1, batch.vocab)) {
    return error;
  }
  if (has_drafts(batch)) {
    if (Error error = stride_error("draft", batch.draft, batch.requests, batch.gamma, batch.vocab)) {
      return error;
    }
  }

  const std::size_t needed = layout_of(implementation, batch).workspace_bytes;
  if (needed > 0 && workspace == nullptr) {
    return "workspace is null: " + std::to_string(needed) + " bytes are needed";
  }
  if (workspace_bytes < needed) {
    return "workspace_bytes is " + std::to_string(workspace_bytes) + ": this batch needs " +
           std::to_string(needed);
  }

  const std::vector<Memory> all = memory_of(batch, workspace, needed);
  for (const Memory& memory : all) {
    if (memory.begin() % memory.alignment != 0) {
      return memory.name + " is " + hex(memory.begin()) + ": a multiple of " +
             std::to_string(memory.alignment) + " bytes is needed";
    }
    if (memory.bytes() > UINTPTR_MAX - memory.begin()) {
      return memory.name + " is " + hex(memory.begin()) + " with " + std::to_string(memory.bytes()) +
             " bytes: that is beyond the address space";
    }
  }
  return overlap_error(all);
}

}  // namespace speclab
