// Tests verification of trees whose rows are summed before the walk: which batches are verified so, with the
// same bits, and what they load.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/round/tree.hpp"
#include "kernels/verify/tree_layout.hpp"
#include "tests/kernels/verify/tree_logits.hpp"

using namespace speclab;

namespace {

/// Nodes -1, 0, 1 and 3 have children.
const std::vector<std::int32_t> small_tree{-1, -1, -1, 0, 0, 1, 3, 3};
constexpr std::int32_t inner_nodes = 4;

constexpr Drafting all_draftings[]{Drafting::without_replacement, Drafting::independent, Drafting::chosen,
                                   Drafting::traversed};

struct Results {
  std::vector<std::int32_t> path;
  std::vector<Token> next;
  std::vector<std::uint32_t> flags;
  bool operator==(const Results&) const = default;
};
/// Runs kernels in the emulator, and spoils a sum after each.
struct SpoilingExecutor {
  simt::EmulatedExecutor executor;
  PartialSum* sum;

  template <class Kernel>
  bool takes(const simt::Launch& launch) const {
    return executor.takes<Kernel>(launch);
  }
  template <class Kernel>
  void run(const simt::Launch& launch, const typename Kernel::Args& args) {
    executor.run<Kernel>(launch, args);
    sum->sum *= 1e6F;
  }
};

Results results_of(const TreeLogits& logits) { return {logits.path, logits.next, logits.flags}; }

}  // namespace

TEST_CASE("sums taken before the walk change no bit: formats, rows off alignment, several tiles") {
  for (const Drafting how : all_draftings) {
    for (const auto& [dtype, ids] : {std::pair{Dtype::f32, 13},
                                     {Dtype::bf16, 13},
                                     {Dtype::f16, 13},
                                     {Dtype::bf16, 2 * tile_size - 11}}) {
      // If a row has an odd number of ids, most rows begin off 16-byte alignment.
      CAPTURE(static_cast<int>(how));
      TreeLogits logits({.requests = 2, .vocab = ids, .dtype = dtype, .distance = 0.9}, small_tree, how, 3);
      logits.run();
      const Results walked = results_of(logits);
      logits.run(simt::Order::backward, true);
      CHECK(results_of(logits) == walked);
    }
  }
  // A planted fault: the first tile of the first row has another sum, and the walk does not sum it again.
  TreeLogits logits({.requests = 2, .vocab = 13, .distance = 0.7}, small_tree, Drafting::without_replacement,
                    29);
  logits.run();
  const Results walked = results_of(logits);
  TreeRoom room(logits.tree());
  SpoilingExecutor spoiling{simt::EmulatedExecutor(simt::Order::forward),
                            TreeKernels::sums_layout(room.in(logits.tree())).args.parts};
  TreeKernels::run(spoiling, room.in(logits.tree()));
  CHECK_FALSE(results_of(logits) == walked);
}

TEST_CASE("with sums taken before, trees load and write what TreeKernels::traffic says") {
  for (const Drafting how : {Drafting::without_replacement, Drafting::chosen}) {
    TreeLogits logits({.requests = 2, .vocab = 20000, .dtype = Dtype::bf16, .distance = 0.7}, small_tree, how,
                      23);
    const auto loaded = static_cast<double>(logits.run(simt::Order::forward, true));
    TreeOutcome outcome;
    for (const TreeReferenceDecision& verdict : verify_tree_reference(logits.tree())) {
      outcome.add(verdict.met, 1.0 / logits.batch.requests);
    }
    const Traffic traffic = TreeKernels::traffic(logits.tree(), outcome, inner_nodes);
    const double tiles = 3;
    const double sides = how == Drafting::chosen ? 1 : 2;
    CHECK(traffic.written == 2 * inner_nodes * sides * tiles * 8);
    // Beyond the rows: what acceptance draws need, and the sums of tiles in every block of a cluster. A
    // launch that summed the rows of leaves, too, would load 2 * 5 * 40,000 bytes more.
    CHECK(loaded >= traffic.read);
    CHECK(loaded < traffic.read + 200000);
  }
}

TEST_CASE("rows are summed before the walk where they are few") {
  const auto first = [](std::int32_t requests, std::int32_t nodes, std::int32_t vocab, TreeMethod method,
                        Dtype dtype = Dtype::bf16) {
    TreeBatch tree;
    static const float row = 0;
    tree.batch.requests = requests;
    tree.batch.gamma = nodes;
    tree.batch.vocab = vocab;
    tree.batch.target = {&row, dtype, std::int64_t{vocab} * (nodes + 1), vocab};
    tree.batch.draft = {&row, dtype, std::int64_t{vocab} * nodes, vocab};
    tree.method = method;
    return tree_workspace_bytes(tree) > 0;
  };
  constexpr auto recursive = TreeMethod::recursive_rejection;
  CHECK(first(1, 26, 128256, recursive));
  CHECK(first(10, 26, 128256, recursive));
  CHECK_FALSE(first(11, 26, 128256, recursive));
  CHECK(first(20, 26, 128256, TreeMethod::traversal));
  CHECK_FALSE(first(21, 26, 128256, TreeMethod::traversal));
  CHECK(first(40, 26, 32000, recursive));
  CHECK_FALSE(first(41, 26, 32000, recursive));
  CHECK(first(5, 26, 128256, recursive, Dtype::f32));
  CHECK_FALSE(first(6, 26, 128256, recursive, Dtype::f32));
}

TEST_CASE("a workspace is used where it pays, and refused if it is too small or elsewhere in use") {
  TreeLogits logits({.requests = 2, .vocab = 40}, small_tree, Drafting::without_replacement, 24);
  TreeRoom room(logits.tree());
  TreeBatch tree = room.in(logits.tree());
  CHECK(tree_error(tree) == std::nullopt);
  CHECK(tree_workspace_bytes(tree) == tree.workspace_bytes);
  const auto error = [](const TreeBatch& wrong) { return tree_error(wrong).value_or(""); };
  TreeBatch wrong = tree;
  --wrong.workspace_bytes;
  const std::string needed = std::to_string(tree_workspace_bytes(tree));
  CHECK(error(wrong) ==
        "workspace_bytes is " + std::to_string(wrong.workspace_bytes) + ": this batch needs " + needed);
  wrong = tree;
  wrong.workspace = static_cast<unsigned char*>(tree.workspace) + 8;
  CHECK(error(wrong).find("workspace") != std::string::npos);
  wrong = tree;
  wrong.path = static_cast<std::int32_t*>(tree.workspace);
  CHECK(error(wrong).find("overlaps") != std::string::npos);
  // If all sums are given, nothing is to be summed.
  const std::vector<float> sums(2 * 9, 0.0F);
  tree.batch.target_options.log_sum_exp = sums.data();
  tree.batch.draft_options.log_sum_exp = sums.data();
  CHECK(tree_workspace_bytes(tree) == 0);
  CHECK(TreeKernels::layout(tree, true).launches.size() == 1);
}
