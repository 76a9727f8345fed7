#include "kernels/verify/verify_tree.hpp"

#include "kernels/verify/check_parts.hpp"
#include "kernels/verify/tree_layout.hpp"

namespace speclab {

namespace {

/// Finds the mistakes on which no pointer has a bearing.
Error shape_error(const TreeBatch& tree) {
  if (Error reason = TreeKernels::unsupported_reason(tree)) return reason;
  if (Error error = field_error(tree.batch)) return error;
  if (Error error = range_error("siblings", static_cast<std::int64_t>(tree.siblings), 0, 1))
    return *error + " (without_replacement, independent)";
  if (Error error = range_error("tree_method", static_cast<std::int64_t>(tree.method), 0, 1))
    return *error + " (recursive_rejection, traversal)";
  if (Error error = range_error("draft_rows", tree.draft_rows, 0, tree.batch.gamma))
    return *error + " (0: as many as nodes)";
  return launch_error(tree.batch, TreeKernels::layout(tree).launch);
}

}  // namespace

std::size_t tree_workspace_bytes(const TreeBatch& tree) {
  if (Error error = shape_error(tree)) throw std::invalid_argument(*error);
  return TreeKernels::sums_first(tree) ? TreeKernels::layout(tree, true).workspace_bytes : 0;
}

Error tree_error(const TreeBatch& tree) {
  const VerifyBatch& batch = tree.batch;
  if (Error error = shape_error(tree)) return error;
  if (batch.requests == 0) return std::nullopt;
  const std::int32_t draft_rows = tree.draft_row_count();
  if (Error error = array_error(batch, draft_rows)) return error;
  if (batch.gamma > 0 && tree.parents == nullptr)
    return "parents is null: the node before each of [requests, gamma] is needed";
  const std::size_t needed = tree.workspace == nullptr ? 0 : tree_workspace_bytes(tree);
  if (tree.workspace_bytes < needed) {
    return "workspace_bytes is " + std::to_string(tree.workspace_bytes) + ": this batch needs " +
           std::to_string(needed);
  }
  std::vector<Memory> memory = memory_of(batch, draft_rows, tree.workspace, needed);
  const auto add = [&memory](Memory added) {
    if (added.data != nullptr && added.bytes() > 0) memory.push_back(std::move(added));
  };
  add(view("parents", tree.parents, batch.requests, batch.gamma));
  if (batch.has_draft_rows()) add(view("draft_row", tree.draft_row, batch.requests, batch.gamma));
  add(array("path", tree.path, std::int64_t{batch.requests} * batch.gamma));
  return memory_error(memory);
}

std::uint64_t run_tree_emulated(const TreeBatch& tree, simt::Order order) {
  if (const auto reason = TreeKernels::unsupported_reason(tree)) throw std::invalid_argument(*reason);
  simt::EmulatedExecutor executor(order);
  TreeKernels::run(executor, tree);
  return executor.loaded_bytes();
}

}  // namespace speclab
