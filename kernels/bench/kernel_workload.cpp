#include "kernels/bench/kernel_workload.hpp"

#include <array>

namespace speclab {

namespace {

constexpr std::array<std::int32_t, 5> chain_gammas{1, 2, 4, 8, 16};
constexpr std::array<std::int32_t, 1> cut_gammas{4};
/// Nodes of a tree without the context: about those of EAGLE's static tree and of EAGLE-2's.
constexpr std::array<std::int32_t, 2> tree_sizes{26, 60};
constexpr float peaked = 16;

constexpr std::array all{
    KernelWorkloadInfo{.workload = KernelWorkload::chains,
                       .name = "chains",
                       .sentence = "drafted tokens in a row",
                       .gammas = chain_gammas,
                       .centre_gamma = 4},
    KernelWorkloadInfo{.workload = KernelWorkload::cut_offs,
                       .name = "cut-offs",
                       .sentence = "chains; top-k 50 and top-p 0.9 of the target",
                       .gammas = cut_gammas,
                       .centre_gamma = 4,
                       .filters = {.top_k = 50, .top_p = 0.9},
                       .spread = peaked},
    KernelWorkloadInfo{.workload = KernelWorkload::min_p,
                       .name = "min-p",
                       .sentence = "chains; min-p 0.05 of the target",
                       .gammas = cut_gammas,
                       .centre_gamma = 4,
                       .filters = {.min_p = 0.05},
                       .spread = peaked},
    KernelWorkloadInfo{.workload = KernelWorkload::trees,
                       .name = "trees",
                       .sentence = "one tree of gamma nodes; siblings drawn without replacement",
                       .gammas = tree_sizes,
                       .centre_gamma = 26,
                       .branches = true,
                       .spread = peaked},
    KernelWorkloadInfo{.workload = KernelWorkload::chosen_trees,
                       .name = "chosen-trees",
                       .sentence = "one tree of gamma nodes; siblings are the likeliest of the draft",
                       .gammas = tree_sizes,
                       .centre_gamma = 26,
                       .branches = true,
                       .chosen = true,
                       .spread = peaked},
};

}  // namespace

std::span<const KernelWorkloadInfo> kernel_workloads() { return all; }

const KernelWorkloadInfo& info_of(KernelWorkload workload) { return all[static_cast<std::size_t>(workload)]; }

}  // namespace speclab
