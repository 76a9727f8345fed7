#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/bench/make_inputs.hpp"
#include "kernels/verify/check_batch.hpp"
#include "tests/kernels/verify/run_with_sums.hpp"

using namespace speclab;

namespace {

BenchShape small_shape(const KernelWorkloadInfo& info, Dtype dtype, std::int32_t requests) {
  return {requests, info.branches ? 9 : 3, 3001, dtype, info.workload};
}

/// A batch in host memory, made and verified in the emulator.
struct EmulatedBatch {
  BenchShape shape;
  HostMemory memory;
  std::vector<RandomAddress> addresses;
  BenchBatch batch;

  EmulatedBatch(const BenchShape& of, std::uint64_t seed) : shape(of), addresses(addresses_from(of, seed)) {
    batch = place_batch(memory, of, addresses);
    const float spread = info_of(of.workload).spread;
    make_inputs(simt::EmulatedExecutor(), of, {seed, spread, spread / 4}, batch);
  }

  BenchResults run(const BenchMethod& method, std::uint64_t* loaded = nullptr) {
    const TreeBatch asked = method.asked_of(batch.tree);
    const std::uint64_t bytes = !method.branches()  ? run_emulated(*method.of_chains, batch.tree.batch)
                                : method.sums_first ? run_with_sums(asked)
                                                    : run_tree_emulated(asked);
    if (loaded != nullptr) *loaded = bytes;
    return fetch_results(memory, batch.tree);
  }

 private:
  static std::vector<RandomAddress> addresses_from(const BenchShape& of, std::uint64_t seed) {
    std::vector<RandomAddress> all;
    for (std::int32_t i = 0; i < of.requests; ++i) all.push_back({seed, static_cast<std::uint32_t>(i), 0});
    return all;
  }
};

}  // namespace

TEST_CASE("trees of a measurement are as deep as those of EAGLE, and have a row for each inner node") {
  for (const auto& [nodes, depth, at_context] : {std::array{26, 6, 4}, std::array{60, 8, 5}}) {
    const DraftPlan plan = draft_plan({1, nodes, 1000, Dtype::f32, KernelWorkload::trees});
    CHECK(plan.tree.size() == nodes);
    CHECK(plan.tree.depth() == depth);
    CHECK(plan.tree.children(-1).size() == static_cast<std::size_t>(at_context));
    std::size_t inner = 0;
    for (std::int32_t node = -1; node < nodes; ++node) {
      if (plan.tree.children(node).empty()) continue;
      CHECK(plan.row_position[inner] == node + 1);
      CHECK(plan.draft_row[static_cast<std::size_t>(node + 1)] == static_cast<std::int32_t>(inner));
      ++inner;
    }
    CHECK(plan.row_position.size() == inner);
  }
  const DraftPlan chain = draft_plan({1, 3, 1000, Dtype::f32});
  CHECK(chain.tree.parents() == std::vector<std::int32_t>{-1, 0, 1});
  CHECK(chain.draft_row == std::vector<std::int32_t>{0, 1, 2});
  CHECK(chain.rank == std::vector<std::int32_t>{0, 0, 0});
}

TEST_CASE("the outcome that is expected of a chain is that of independent acceptances") {
  const BenchOutcome expected = expected_outcome(3, 0.7);
  CHECK(expected.accepted == doctest::Approx(0.7 + 0.49 + 0.343));
  CHECK(expected.rejecting == doctest::Approx(1 - 0.343));
  CHECK(expected.leaves == doctest::Approx(0.343));
  CHECK(expected.tried == doctest::Approx(1 + 0.7 + 0.49));
  CHECK(expected.refused == doctest::Approx(expected.rejecting));
  CHECK(expected.refusing == doctest::Approx(expected.rejecting));
}

TEST_CASE("the outcome of a tree is what its paths say") {
  // The context has two children; the first one has two.
  const DraftTree tree({-1, -1, 0, 0});
  const BenchResults results{
      4, {2, 0, 1, 1}, {0, 0, 0, 0}, {0, 3, -1, -1, -1, -1, -1, -1, 1, -1, -1, -1, 0, -1, -1, -1}};
  const BenchOutcome found = outcome_of(tree, results);
  CHECK(found.accepted == 1);
  CHECK(found.tried == doctest::Approx((2 + 1 + 1 + 2) / 4.0));
  CHECK(found.refused == doctest::Approx((1 + 2 + 1 + 2) / 4.0));
  CHECK(found.refusing == doctest::Approx((1 + 1 + 1 + 1) / 4.0));
  CHECK(found.leaves == doctest::Approx(0.5));
  CHECK(found.rejecting == doctest::Approx(0.5));
  // Results out of range give no path and no crash.
  const BenchResults absurd{4, {-5, 77, 2, 4}, {0, 0, 0, 0}, std::vector<std::int32_t>(16, 99)};
  CHECK(outcome_of(tree, absurd).accepted == 0);
}

TEST_CASE(
    "every method decides batches of every workload that it runs as its reference does, and loads what it "
    "states") {
  int ran = 0;
  for (const KernelWorkloadInfo& info : kernel_workloads()) {
    for (const BenchMethod& method : methods_for(info.workload, bench_methods())) {
      for (const Dtype dtype : {Dtype::bf16, Dtype::f32}) {
        const BenchShape shape = small_shape(info, dtype, 5);
        if (unsupported_reason(method, shape_batch(shape))) continue;
        CAPTURE(info.name);
        CAPTURE(method.name);
        EmulatedBatch made(shape, 31);
        const TreeBatch& tree = made.batch.tree;
        // The checks accept the batch.
        if (method.branches()) {
          CHECK(tree_error(tree).value_or("") == "");
        } else if (layout_of(method, tree).workspace_bytes == 0) {
          CHECK(batch_error(*method.of_chains, tree.batch, nullptr, 0).value_or("") == "");
        }
        std::uint64_t loaded = 0;
        BenchResults results = made.run(method, &loaded);
        const std::vector<BenchVerdict> expected = method.reference(tree);
        const DecisionAgreement found = agreement_of(method, expected, shape.vocab, results);
        CHECK(found.requests == shape.requests);
        CHECK(found.different == 0);
        CHECK(found.within_band <= 1);
        const BenchOutcome of_paths = outcome_of(draft_plan(shape).tree, results);
        const BenchOutcome met = outcome_of(expected);
        if (method.branches() && method.path_tells() && found.within_band == 0) {
          // The outcome counted along the reference's walk equals that of the paths.
          CHECK(met.accepted == doctest::Approx(of_paths.accepted));
          CHECK(met.tried == doctest::Approx(of_paths.tried));
          CHECK(met.refused == doctest::Approx(of_paths.refused));
          CHECK(met.refusing == doctest::Approx(of_paths.refusing));
          CHECK(met.leaves == doctest::Approx(of_paths.leaves));
          CHECK(met.rejecting == doctest::Approx(of_paths.rejecting));
          CHECK(met.returned == 0);
        }
        const BenchOutcome outcome = outcome_of(method, draft_plan(shape).tree, results, expected);
        const double counted = traffic_of(method, tree, outcome).read;
        CHECK(static_cast<double>(loaded) > 0.9 * counted);
        CHECK(static_cast<double>(loaded) < 2.5 * counted);
        // A planted fault: another token follows each path.
        for (Token& next : results.next) next = (next + 1) % shape.vocab;
        CHECK(agreement_of(method, expected, shape.vocab, results).different >= shape.requests - 1);
        ++ran;
      }
    }
  }
  CHECK(ran == 2 * (5 + 1 + 1 + 4 + 2));
}

TEST_CASE("some requests of a batch have the verdicts that they have in it") {
  for (const KernelWorkloadInfo& info : kernel_workloads()) {
    CAPTURE(info.name);
    EmulatedBatch made(small_shape(info, Dtype::bf16, 6), 5);
    const BenchMethod method = methods_for(info.workload, bench_methods()).front();
    const std::vector<BenchVerdict> all = method.reference(made.batch.tree);
    const std::vector<std::int32_t> requests{0, 3, 5};
    HostMemory memory;
    std::vector<RandomAddress> addresses;
    for (const std::int32_t each : requests)
      addresses.push_back(made.addresses[static_cast<std::size_t>(each)]);
    const BenchBatch part = fetch_inputs(memory, made.memory, made.shape, made.batch, requests, addresses);
    const std::vector<BenchVerdict> some = method.reference(part.tree);
    REQUIRE(some.size() == requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const BenchVerdict& expected = all[static_cast<std::size_t>(requests[i])];
      CHECK(some[i].path == expected.path);
      CHECK(some[i].next == expected.next);
    }
  }
}
