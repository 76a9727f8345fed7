// Compares tree verification on a GPU with the reference, alone and from a CUDA graph. Ends with status 77
// (skipped) if there is no device.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "core/round/tree.hpp"
#include "kernels/gpu/device.hpp"
#include "kernels/gpu/run_host_batch.hpp"
#include "tests/kernels/verify/tree_logits.hpp"

namespace {

using namespace speclab;

/// Counts the requests that differ from the reference, and the runs that changed a result: from a graph, and
/// with rows summed before the walk.
int tree_faults(const std::vector<std::int32_t>& parents, Drafting how, Dtype dtype, std::int32_t vocab) {
  constexpr double band = 1e-5;
  TreeLogits logits({.requests = 24, .vocab = vocab, .dtype = dtype, .distance = 0.8}, parents, how, 81);
  int within = 0;
  run_host_trees_on_gpu(logits.tree());
  const int different = logits.different_from(verify_tree_reference(logits.tree()), band, &within);
  const auto path = logits.path;
  const auto next = logits.next;
  TreeRoom room(logits.tree());
  int changed = 0;
  for (const auto& [launch, sums_first] :
       {std::pair{GpuLaunch::graph, false}, {GpuLaunch::stream, true}, {GpuLaunch::graph, true}}) {
    std::fill(logits.path.begin(), logits.path.end() - 1, -5);
    run_host_trees_on_gpu(sums_first ? room.in(logits.tree()) : logits.tree(), launch);
    changed += logits.path == path && logits.next == next ? 0 : 1;
  }
  std::printf(
      "%zu nodes, drafting %d, dtype %d, vocab %d: %d differ, %d within the band, %d of 3 runs changed\n",
      parents.size(), static_cast<int>(how), static_cast<int>(dtype), vocab, different, within, changed);
  return different + changed;
}

}  // namespace

int main() {
  constexpr int skipped = 77;
  if (!why_no_device().empty()) {
    std::printf("skipped: kernels/verify_trees_gpu: %s\n", why_no_device().c_str());
    return skipped;
  }
  int wrong = 0;
  for (const Drafting how :
       {Drafting::without_replacement, Drafting::independent, Drafting::chosen, Drafting::traversed}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
      for (const std::int32_t vocab : {7, 1000, 40001}) {
        wrong += tree_faults(branching_tree({3, 2, 1}).parents(), how, dtype, vocab);
      }
    }
  }
  return wrong == 0 ? 0 : 1;
}
