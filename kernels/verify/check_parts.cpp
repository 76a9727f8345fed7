#include "kernels/verify/check_parts.hpp"

#include <cinttypes>
#include <cstdio>

#include "kernels/verify/batch_part.hpp"
#include "kernels/verify/check_batch.hpp"

namespace speclab {

namespace {

std::string hex(std::uintptr_t address) {
  char text[2 + 16 + 1];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, address);
  return text;
}

Error kind_error(const VerifyBatch& batch, bool of_target) {
  const std::string name = of_target ? "target" : "draft";
  if (!of_target && !batch.has_draft_rows()) return std::nullopt;
  const LogitRows& rows = batch.rows(of_target);
  const RowOptions& options = batch.options(of_target);
  if (Error error = range_error((name + ".kind").c_str(), static_cast<std::int64_t>(rows.kind), 0, 1))
    return *error + " (logits, probabilities)";
  if (rows.kind == RowKind::probabilities) {
    if (options.temperature != nullptr || options.cutoff != nullptr || options.log_sum_exp != nullptr) {
      return name + ".kind is probabilities, and " + name +
             "_options are given: they are of logits, so leave them null";
    }
    if (of_target && batch.has_filters())
      return "target.kind is probabilities, and top_k, top_p or min_p are given: the rows must already be 0 where they cut off";
    if (of_target && batch.mask != nullptr)
      return "target.kind is probabilities, and mask is given: the rows must already be 0 where it forbids ids";
  }
  if (of_target && batch.has_filters() && options.log_sum_exp != nullptr)
    return "target_options.log_sum_exp and top_k, top_p or min_p are given: the sum over the ids they keep is not known beforehand, so leave log_sum_exp null";
  if (batch.ties == Ties::lowest && options.temperature != nullptr && options.log_sum_exp != nullptr) {
    return "ties is lowest, and " + name +
           "_options have temperature and log_sum_exp: rows at temperature 0 " +
           "have to be read, so leave log_sum_exp null";
  }
  return std::nullopt;
}

/// Checks strides. The stride of a dimension of size one is never used, and frameworks leave any number in
/// it. Requests may share rows if the rows have an index.
Error stride_error(const std::string& name, const LogitRows& rows, std::int64_t requests,
                   std::int64_t positions, std::int64_t vocab) {
  const auto check = [&](const char* which, std::int64_t stride, std::int64_t count) -> Error {
    if (count <= 1) return std::nullopt;
    const std::string found = name + which + " is " + std::to_string(stride);
    if (stride < vocab) {
      return found + ", but a row has vocab = " + std::to_string(vocab) +
             " logits: strides count elements, not bytes, and rows may not overlap";
    }
    if (stride > max_elements / count) return found + ": more memory than there can be";
    return std::nullopt;
  };
  if (Error error = check(".row_stride", rows.row_stride, positions)) return error;
  if (rows.index != nullptr) return std::nullopt;
  if (Error error = check(".request_stride", rows.request_stride, requests)) return error;
  if (requests <= 1 || positions <= 1) return std::nullopt;
  // Either dimension may be the outer one.
  const bool by_request = rows.request_stride >= (positions - 1) * rows.row_stride + vocab;
  const bool by_position = rows.row_stride >= (requests - 1) * rows.request_stride + vocab;
  if (by_request || by_position) return std::nullopt;
  return name + ".request_stride is " + std::to_string(rows.request_stride) + " and " + name +
         ".row_stride " + std::to_string(rows.row_stride) + ", so that the " + std::to_string(positions) +
         " rows of one request overlap the next one's: request_stride of " +
         std::to_string(positions * rows.row_stride) + " or more is needed";
}

Memory mask_rows(const VerifyBatch& batch, std::int64_t positions) {
  Memory words = view("mask", batch.mask, batch.requests, positions);
  if (words.elements > 0) words.elements += static_cast<std::uint64_t>((batch.vocab + 31) / 32 - 1);
  return words;
}

Memory logits(std::string name, const LogitRows& rows, std::int64_t requests, std::int64_t positions,
              std::int64_t vocab) {
  if (rows.index != nullptr) requests = positions = 1;
  const std::int64_t last = (requests > 1 ? (requests - 1) * rows.request_stride : 0) +
                            (positions > 1 ? (positions - 1) * rows.row_stride : 0);
  const auto bytes = static_cast<std::size_t>(dtype_bytes(rows.dtype));
  return {std::move(name), rows.data, static_cast<std::uint64_t>(last + vocab), bytes, bytes, false};
}

Error null_error(const VerifyBatch& batch) {
  const auto missing = [](const char* name, const char* what) {
    return std::string(name) + " is null: " + what;
  };
  if (batch.target.data == nullptr && (batch.gamma > 0 || batch.bonus == nullptr))
    return missing("target.data", "logits [requests, gamma + 1, vocab] are needed");
  if (batch.gamma > 0 && batch.drafted == nullptr)
    return missing("drafted", "ids [requests, gamma] are needed");
  if (batch.accepted == nullptr) return missing("accepted", "room for [requests] counts is needed");
  if (batch.next == nullptr) return missing("next", "room for [requests] ids is needed");
  const int sources = (batch.addresses != nullptr ? 1 : 0) + (batch.uniforms != nullptr ? 1 : 0) +
                      (batch.seeds != nullptr ? 1 : 0);
  if (sources == 0)
    return "addresses, uniforms and seeds are null: one of them is needed, as the source of randomness";
  if (sources > 1) {
    return batch.seeds == nullptr ? "addresses and uniforms are both given: leave one of them null"
                                  : "seeds are given besides addresses or uniforms: leave one of them null";
  }
  if ((batch.seeds != nullptr) != (batch.positions != nullptr)) {
    return missing(batch.seeds == nullptr ? "seeds" : "positions",
                   "both are needed, for with one alone steps would share their random numbers");
  }
  if (batch.mask != nullptr && batch.mask.request_stride == decltype(batch.mask)::dense)
    return "mask has no strides: give them in words; a row has " + std::to_string((batch.vocab + 31) / 32);
  if (batch.lengths != nullptr && batch.cumulative != nullptr)
    return "lengths and cumulative are both given: leave one of them null";
  const RowOptions& draft = batch.draft_options;
  if (batch.gamma > 0 && batch.certain_drafts() &&
      (draft.temperature != nullptr || draft.cutoff != nullptr || draft.log_sum_exp != nullptr)) {
    return missing("draft.data",
                   "draft_options are given, so the draft's logits are needed; for drafts that "
                   "were certain leave both null");
  }
  return std::nullopt;
}

Error overlap_error(const std::vector<Memory>& arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    for (std::size_t j = i + 1; j < arrays.size(); ++j) {
      if (!arrays[i].written && !arrays[j].written) continue;
      if (arrays[i].begin() < arrays[j].begin() + arrays[j].bytes() &&
          arrays[j].begin() < arrays[i].begin() + arrays[i].bytes()) {
        return arrays[i].where() + " overlaps " + arrays[j].where() +
               ": outputs and the workspace need memory of their own";
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::string Memory::where() const {
  return name + " (" + hex(begin()) + " to " + hex(begin() + bytes()) + ")";
}

Error range_error(const char* field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return std::nullopt;
  return std::string(field) + " is " + std::to_string(value) + ": " + std::to_string(least) + " to " +
         std::to_string(most) + " are allowed";
}

Error field_error(const VerifyBatch& batch) {
  if (Error error = range_error("requests", batch.requests, 0, INT32_MAX)) return error;
  if (Error error = range_error("gamma", batch.gamma, 0, max_drafted_by(batch.rule.method)))
    return batch.rule.method == KernelRule::block ? *error + " by block verification" : error;
  if (Error error = range_error("vocab", batch.vocab, 1, max_vocab)) return error;
  const char* const formats = " (f32, bf16, f16)";
  const auto target_dtype = static_cast<std::int64_t>(batch.target.dtype);
  if (Error error = range_error("target.dtype", target_dtype, 0, 2)) return *error + formats;
  if (batch.has_draft_rows()) {
    const auto draft_dtype = static_cast<std::int64_t>(batch.draft.dtype);
    if (Error error = range_error("draft.dtype", draft_dtype, 0, 2)) return *error + formats;
    if (Error error = range_error("draft_vocab", batch.draft_vocab, 0, batch.vocab))
      return *error + " (0: vocab)";
  }
  if (Error error = range_error("ties", static_cast<std::int64_t>(batch.ties), 0, 1))
    return *error + " (shared, lowest)";
  if (Error error = range_error("cumulative_extra", batch.cumulative_extra, 0, 1)) return error;
  for (const bool of_target : {true, false}) {
    if (Error error = kind_error(batch, of_target)) return error;
  }
  return std::nullopt;
}

Error launch_error(const VerifyBatch& batch, const simt::Launch& launch) {
  if (launch.blocks > simt::max_blocks) {
    return "requests is " + std::to_string(batch.requests) + ": with gamma " + std::to_string(batch.gamma) +
           " and vocab " + std::to_string(batch.vocab) + " the kernel \"" + launch.kernel + "\" would need " +
           std::to_string(launch.blocks) + " blocks, and " + std::to_string(simt::max_blocks) +
           " can be launched: split the batch";
  }
  if (launch.dynamic_shared > simt::dynamic_shared_limit) {
    return "vocab is " + std::to_string(batch.vocab) + ": the kernel \"" + launch.kernel + "\" would need " +
           std::to_string(launch.dynamic_shared) + " bytes of shared memory in a block, and " +
           std::to_string(simt::dynamic_shared_limit) + " is the most: use another implementation";
  }
  return std::nullopt;
}

std::vector<Memory> memory_of(const VerifyBatch& batch, std::int32_t draft_positions, const void* workspace,
                              std::size_t needed) {
  const std::int64_t requests = batch.requests;
  const std::int64_t target_positions = batch.target_rows(batch.gamma);
  std::vector<Memory> all;
  each_array(batch, [&](const char* name, auto* data, std::int64_t each, std::int64_t more) {
    all.push_back(array(name, data, requests * each + more));
  });
  const Memory others[] = {
      {"workspace", workspace, needed, 1, workspace_alignment, true},
      view("seeds", batch.seeds, requests, 1),
      view("positions", batch.positions, requests, 1),
      mask_rows(batch, target_positions),
      view("top_k", batch.top_k, requests, batch.gamma + 1),
      view("top_p", batch.top_p, requests, batch.gamma + 1),
      view("min_p", batch.min_p, requests, batch.gamma + 1),
      array("target.index", batch.target.index, requests),
  };
  all.insert(all.end(), std::begin(others), std::end(others));
  // Dense arrays of the draft's options have gamma entries per request, however many draft rows there are.
  const auto add_option = [&](const std::string& name, View<const float> option, bool of_target,
                              std::int64_t positions) {
    if (option.request_stride == decltype(option)::dense)
      option.request_stride = batch.positions_of(of_target);
    all.push_back(view(name, option, requests, positions));
  };
  const auto add_options = [&](const std::string& name, bool of_target, std::int64_t positions) {
    const RowOptions& options = batch.options(of_target);
    add_option(name + ".temperature", options.temperature, of_target, positions);
    add_option(name + ".cutoff", options.cutoff, of_target, positions);
    add_option(name + ".log_sum_exp", options.log_sum_exp, of_target, positions);
  };
  if (target_positions > 0) {
    all.push_back(logits("target.data", batch.target, requests, target_positions, batch.vocab));
    add_options("target_options", true, target_positions);
  }
  if (batch.gamma > 0) all.push_back(view("drafted", batch.drafted, requests, batch.gamma));
  if (batch.has_draft_rows()) {
    all.push_back(logits("draft.data", batch.draft, requests, draft_positions, batch.vocab_of(false)));
    add_options("draft_options", false, draft_positions);
    all.push_back(array("draft.index", batch.draft.index, requests));
    all.push_back(array("draft_place", batch.draft_place, batch.vocab));
  }
  std::erase_if(all, [](const Memory& memory) { return memory.data == nullptr || memory.bytes() == 0; });
  return all;
}

Error memory_error(const std::vector<Memory>& all) {
  for (const Memory& memory : all) {
    if (memory.stride_error) return memory.stride_error;
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

Error array_error(const VerifyBatch& batch, std::int32_t draft_positions) {
  if (Error error = null_error(batch)) return error;
  const std::int32_t target_positions = batch.target_rows(batch.gamma);
  if (Error error = stride_error("target", batch.target, batch.requests, target_positions, batch.vocab))
    return error;
  if (!batch.has_draft_rows()) return std::nullopt;
  return stride_error("draft", batch.draft, batch.requests, draft_positions, batch.vocab_of(false));
}

}  // namespace speclab
