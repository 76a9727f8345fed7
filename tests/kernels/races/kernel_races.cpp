// Runs every kernel under the race detector: random batches of chains, cut-offs and trees (those of
// fuzz_verification and fuzz_trees), and chosen batches whose rows have several tiles for each block. There
// must be no race. Then it hides fences, waits and barriers of the chosen batches from the detector, one
// barrier at a time: without each of them the detector must report a race, except for barriers that are
// listed as spare. The runs are the same every time.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "kernels/bench/make_inputs.hpp"
#include "kernels/bench/move_bytes.hpp"
#include "kernels/verify/dispatch.hpp"
#include "tests/kernels/fuzz/fuzz_tree_batch.hpp"
#include "tests/kernels/races/race_detector.hpp"
#include "tests/kernels/simulate/simulate_fixture.hpp"
#include "tests/kernels/verify/tree_logits.hpp"

using namespace speclab;

namespace {

std::string races_of(const simt::RaceDetector& detector) {
  std::string text;
  for (const simt::Race& race : detector.races()) text += race.sentence + "\n";
  return text;
}

std::string text_of(const std::set<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += std::to_string(number) + " ";
  return text;
}

/// Runs fused verification twice on one workspace, by two executors of one stream.
void run_fused_twice(const VerifyBatch& batch, const BlocksWanted& wanted, simt::Order order) {
  std::vector<std::uint64_t> workspace(fused_layout(batch, nullptr, wanted).workspace_bytes / 8 + 32,
                                       0xa5a5a5a5a5a5a5a5U);
  const auto address = (reinterpret_cast<std::uintptr_t>(workspace.data()) + 255) / 256 * 256;
  for (int executor = 0; executor < 2; ++executor) {
    FusedKernels::run(simt::EmulatedExecutor(order), batch, reinterpret_cast<void*>(address), wanted);
  }
}

/// A row has three tiles; blocks take two, one after the other.
constexpr std::int32_t three_tiles = 2 * 8192 + 77;
/// A row has more tiles than a cluster has blocks.
constexpr std::int32_t eleven_tiles = 10 * 8192 + 5;
constexpr BlocksWanted few_blocks{4, 4, 16};

void run_chain(const KernelRule rule, double distance) {
  LogitBatch logits(
      {.requests = 2, .gamma = 3, .vocab = three_tiles, .dtype = Dtype::bf16, .distance = distance}, 1);
  logits.batch.rule.method = rule;
  run_fused_twice(logits.batch, few_blocks, simt::Order::forward);
}

/// `spread`: that of the logits; if it is small, all ids are near the largest.
void run_cutoffs(double spread, float top_p) {
  LogitBatch logits({.requests = 2, .gamma = 1, .vocab = three_tiles, .dtype = Dtype::bf16, .spread = spread},
                    2);
  const std::int32_t top_k = 40;
  const float min_p = 0.01F;
  if (top_p < 1) {
    logits.batch.top_k = {&top_k, nullptr, 0, 0};
    logits.batch.top_p = {&top_p, nullptr, 0, 0};
  } else {
    logits.batch.min_p = {&min_p, nullptr, 0, 0};
  }
  run_fused_twice(logits.batch, few_blocks, simt::Order::shuffled);
}

void run_rows(Implementation implementation, std::int32_t vocab) {
  LogitBatch logits({.requests = 1, .gamma = 2, .vocab = vocab, .dtype = Dtype::bf16, .distance = 1}, 3);
  run_emulated(implementation, logits.batch);
}

/// The tree has two levels, with siblings on both. With sums it has fewer tiles, since it takes two launches.
void run_tree(Drafting how, float temperature, bool sums_first = false) {
  const std::int32_t vocab = sums_first ? three_tiles : eleven_tiles;
  TreeLogits logits({.requests = 1, .vocab = vocab, .dtype = Dtype::bf16, .distance = 3}, {-1, -1, 0, 0, 1},
                    how, 5);
  logits.batch.target_options.temperature = {&temperature, nullptr, 0, 0};
  if (temperature == 0) logits.batch.ties = Ties::lowest;
  logits.run(simt::Order::backward, sums_first);
}

/// Runs the kernels that make the benchmark's inputs, and those that it compares with.
void run_benchmark() {
  const BenchShape shape{2, 6, 9000, Dtype::bf16, KernelWorkload::trees};
  HostMemory memory;
  make_inputs(simt::EmulatedExecutor(), shape, {.noise = 1},
              place_batch(memory, shape, {{1, 0, 0}, {1, 1, 0}}));
  const std::int64_t count = 2 * bench::vectors_a_block + 77;
  const std::vector<simt::Vector16> from(static_cast<std::size_t>(count));
  std::vector<simt::Vector16> to(from.size());
  simt::EmulatedExecutor executor;
  executor.run<bench::CopyBytes>(bench::CopyBytes::launch(count), {from.data(), to.data(), count});
  const simt::Launch read = bench::ReadBytes::launch(count);
  std::vector<std::uint32_t> parity(static_cast<std::size_t>(read.blocks), 0);
  executor.run<bench::ReadBytes>(read, {from.data(), count, parity.data()});
}

/// Runs both kernels of simulation: batches of rounds in several blocks, which add to the same counters.
void run_simulation() {
  const auto go_on = [](std::uint64_t) { return true; };
  const RunShape shape{.seed = 9, .trials = 37, .length = 600, .batches = 3, .gamma = 5};
  simulate_emulated(IidRun{shape, 0.8}, go_on);
  const PairInMemory<TokenRule> pair(random_rows(5, 1, 1), random_rows(5, 1, 2), TokenRule{}, shape,
                                     {{1, 0, 2}, {}, {2}});
  simulate_emulated(pair.run, go_on);
}

struct Case {
  const char* name;
  std::function<void()> run;
  /// Numbers of barriers of blocks and of clusters without which this batch has no race.
  std::set<int> spare;
  std::set<int> spare_of_clusters;
  bool early;  ///< whether fences and waits order anything
  bool fenced = early;
};

const std::vector<Case> cases = {
    {"fused", [] { run_chain(KernelRule::token, 1.5); }, {}, {}, true},
    // The barrier before blocks are counted matters if the choice takes the last tile that a block weighed.
    {"block", [] { run_chain(KernelRule::block, 1.5); }, {6}, {}, true},
    // The last barrier of a cluster matters for rows whose cut-off is found without bins.
    {"cut-offs", [] { run_cutoffs(3, 0.9F); }, {}, {10}, true},
    {"cluster", [] { run_rows(Implementation::cluster, eleven_tiles); }, {}, {}, false},
};
const std::vector<Case> cases_with_sums = {
    {"walk", [] { run_tree(Drafting::without_replacement, 1, true); }, {}, {}, true, false},
    {"traversal", [] { run_tree(Drafting::traversed, 1, true); }, {}, {}, true, false},
};
const std::vector<Case> long_cases = {
    {"baseline", [] { run_rows(Implementation::baseline, three_tiles); }, {}, {}, false},
    {"Wagner exact", [] { run_rows(Implementation::wagner_exact, three_tiles); }, {}, {}, false},
    {"Wagner sigmoid", [] { run_rows(Implementation::wagner_sigmoid, three_tiles); }, {}, {}, false},
    // The spare barrier comes after a node's last pass.
    {"benchmark", run_benchmark, {3}, {}, false},
    {"simulation", run_simulation, {}, {}, false},
    {"walk", [] { run_tree(Drafting::without_replacement, 1); }, {}, {}, false},
    {"traversal", [] { run_tree(Drafting::traversed, 1); }, {}, {}, false},
    {"fused, all accepted", [] { run_chain(KernelRule::token, 0); }, {}, {}, true},
    {"cut-offs, flat", [] { run_cutoffs(1e-3, 0.9F); }, {}, {12}, true},
    {"cut-offs by min-p", [] { run_cutoffs(3, 1); }, {}, {}, true},
    // The ninth barrier orders nothing if every row has all its probability on one id.
    {"traversal, lowest", [] { run_tree(Drafting::traversed, 0); }, {8}, {}, false},
};

/// Batches of the default run; the long suite goes on from there.
constexpr std::uint64_t few_batches = 15;

/// Runs random batches of chains, with and without cut-offs: fused verification twice on one workspace,
/// clusters, and the papers' kernels.
void check_chains(std::uint64_t from, std::uint64_t to) {
  std::uint64_t bytes = 0;
  for (std::uint64_t number = from; number < to; ++number) {
    CAPTURE(number);
    FuzzBatch fuzz(number);
    simt::RaceDetector detector;
    const simt::Observed observed(detector);
    run_fused_twice(fuzz.batch, fuzz.how.wanted, fuzz.how.order);
    for (const ImplementationInfo& info : implementations()) {
      if (info.implementation == Implementation::fused) continue;
      if (unsupported_reason(info.implementation, fuzz.batch)) continue;
      run_emulated(info.implementation, fuzz.batch, fuzz.how.order);
    }
    CHECK(races_of(detector) == "");
    bytes += detector.checked_bytes();
  }
  CHECK(bytes > 1'000'000);
}

void check_trees(std::uint64_t from, std::uint64_t to) {
  std::uint64_t bytes = 0;
  for (std::uint64_t number = from; number < to; ++number) {
    CAPTURE(number);
    FuzzBatch fuzz(number);
    if (fuzz.batch.bonus != nullptr) continue;
    FuzzTrees trees(fuzz, number);
    simt::RaceDetector detector;
    const simt::Observed observed(detector);
    run_tree_emulated(trees.tree, fuzz.how.order);
    TreeRoom room(trees.tree);
    for (int call = 0; call < 2; ++call) run_tree_emulated(room.in(trees.tree), fuzz.how.order);
    CHECK(races_of(detector) == "");
    bytes += detector.checked_bytes();
  }
  CHECK(bytes > 1'000'000);
}

}  // namespace

TEST_CASE("random batches of chains") { check_chains(0, few_batches); }
TEST_CASE("random batches of trees") { check_trees(0, few_batches); }
TEST_CASE("long: more random batches of chains") { check_chains(few_batches, 60); }
TEST_CASE("long: more random batches of trees") { check_trees(few_batches, 60); }

namespace {

/// Hides every barrier, the fences and the waits in turn.
void check_needs(const std::vector<Case>& some) {
  for (const Case& one : some) {
    CAPTURE(std::string(one.name));
    const auto watch = [&one](const simt::WithoutOrder& without, const auto& see) {
      simt::RaceDetector detector(without, 1);
      const simt::Observed observed(detector);
      one.run();
      see(detector);
    };
    int block_barriers = 0;
    int cluster_barriers = 0;
    watch({}, [&](const simt::RaceDetector& detector) {
      CHECK(races_of(detector) == "");
      CHECK(detector.checked_bytes() > 10'000);
      block_barriers = detector.block_barriers();
      cluster_barriers = detector.cluster_barriers();
    });
    const auto reported = [&](const simt::WithoutOrder& without) {
      bool found = false;
      watch(without, [&](const simt::RaceDetector& detector) { found = !detector.races().empty(); });
      return found;
    };
    std::set<int> spare;
    for (int n = 0; n < block_barriers; ++n) {
      if (!reported({.block_barrier = n})) spare.insert(n);
    }
    CHECK(text_of(spare) == text_of(one.spare));
    spare.clear();
    for (int n = 0; n < cluster_barriers; ++n) {
      if (!reported({.cluster_barrier = n})) spare.insert(n);
    }
    CHECK(text_of(spare) == text_of(one.spare_of_clusters));
    CHECK(reported({.fences = true}) == one.fenced);
    CHECK(reported({.waits = true}) == one.early);
  }
}

}  // namespace

TEST_CASE("chosen batches, and what each kernel has need of") { check_needs(cases); }

TEST_CASE("long: trees whose rows are summed before the walk, and what both launches have need of") {
  check_needs(cases_with_sums);
}

// This takes half a minute, so it is in the long suite.
TEST_CASE("long: more batches, and what their kernels have need of") { check_needs(long_cases); }
