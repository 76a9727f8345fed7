#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/bench/make_inputs.hpp"
#include "kernels/bench/move_bytes.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

constexpr simt::Order all_orders[] = {simt::Order::forward, simt::Order::backward, simt::Order::shuffled};

std::vector<simt::Vector16> counted_vectors(std::int64_t count) {
  std::vector<simt::Vector16> vectors(static_cast<std::size_t>(count));
  std::uint32_t word = 0;
  for (simt::Vector16& vector : vectors) {
    for (std::uint32_t& each : vector.word) each = word++ * 2654435761U;
  }
  return vectors;
}

struct Inputs {
  BenchShape shape;
  MadeLogits how;
  HostMemory memory;
  BenchBatch batch;

  Inputs(const BenchShape& of, const MadeLogits& made, simt::Order order = simt::Order::forward)
      : shape(of),
        how(made),
        batch(place_batch(memory, of,
                          std::vector<RandomAddress>(static_cast<std::size_t>(of.requests), {1, 0, 0}))) {
    make_inputs(simt::EmulatedExecutor(order), of, made, batch);
  }

  float logit(const LogitRows& rows, std::int32_t request, std::int32_t row, std::int32_t id) const {
    return row_of<float>(rows, request, row)[id];
  }
  Token token(std::int32_t request, std::int32_t node) const {
    return batch.tree.batch.drafted_token(request, node);
  }
};

/// Returns the tokens of trees that consist of these nodes, children of the context; each tree has one row of
/// logits.
template <class T>
std::vector<Token> picked(const std::vector<T>& logits, const std::vector<std::int32_t>& parents,
                          std::int32_t requests, std::int32_t vocab, std::uint64_t seed,
                          simt::Order order = simt::Order::forward) {
  std::vector<std::int32_t> rank(parents.size());
  std::iota(rank.begin(), rank.end(), 0);
  const std::vector<std::int32_t> draft_row(parents.size(), 0);
  const auto nodes = static_cast<std::int32_t>(parents.size());
  std::vector<Token> drafted(static_cast<std::size_t>(requests * nodes), -7);
  simt::EmulatedExecutor executor(order);
  using Pick = bench::PickDrafts<T>;
  executor.template run<Pick>(Pick::launch(requests * nodes), {logits.data(),
                                                               {seed},
                                                               drafted.data(),
                                                               parents.data(),
                                                               draft_row.data(),
                                                               rank.data(),
                                                               nodes,
                                                               1,
                                                               vocab});
  return drafted;
}

}  // namespace

TEST_CASE("logits are what their addresses say, in any order of threads") {
  constexpr MadeLogits how{9, 2.5F, 0.7F};
  for (const KernelWorkloadInfo& info : kernel_workloads()) {
    CAPTURE(info.name);
    const BenchShape shape{2, info.branches ? 7 : 2, 1027, Dtype::f32, info.workload};
    for (const simt::Order order : all_orders) {
      const Inputs made(shape, how, order);
      const VerifyBatch& batch = made.batch.tree.batch;
      const DraftPlan plan = draft_plan(shape);
      int wrong = 0;
      for (std::int32_t request = 0; request < shape.requests; ++request) {
        for (std::int32_t id = 0; id < shape.vocab; ++id) {
          const auto expected = [&](std::int32_t position) {
            return made_logit(how, request * (shape.gamma + 1) + position, id);
          };
          for (std::int32_t i = 0; i <= shape.gamma; ++i) {
            wrong += made.logit(batch.target, request, i, id) == expected(i).target ? 0 : 1;
          }
          if (info.chosen) continue;
          for (std::int32_t row = 0; row < made.batch.draft_rows; ++row) {
            const std::int32_t position = plan.row_position[static_cast<std::size_t>(row)];
            wrong += made.logit(batch.draft, request, row, id) == expected(position).draft ? 0 : 1;
          }
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("bells have mean 0 and variance 1") {
  double sum = 0;
  double squares = 0;
  double products = 0;
  constexpr int count = 100000;
  const MadeLogits how{test_seed(4), 1, 1};
  for (std::int32_t id = 0; id < count; ++id) {
    const MadeLogit made = made_logit(how, 3, id);
    const auto target = static_cast<double>(made.target);
    const double noise = static_cast<double>(made.draft) - target;
    sum += target;
    squares += target * target;
    products += target * noise;
    REQUIRE(std::abs(target) < 3.47);
  }
  CHECK(mean_agrees(sum / count, 0, 1, count));
  CHECK(mean_agrees(products / count, 0, 1, count));
  // The fourth moment of a sum of four uniforms with variance 1 is 3 - 1.2/4.
  CHECK(mean_agrees(squares / count, 1, std::sqrt(2 - 0.3), count));
}

TEST_CASE("drafted tokens have the distribution of the draft's row") {
  // All rows are alike: every request draws from the distribution of one row.
  constexpr std::int32_t vocab = 5;
  constexpr std::int32_t rows = 4000;
  const std::vector<float> row{0.5F, -1, 2, 0, 1};
  std::vector<float> logits;
  for (std::int32_t i = 0; i < rows; ++i) logits.insert(logits.end(), row.begin(), row.end());
  const std::vector<Token> drafted = picked(logits, {-1}, rows, vocab, test_seed(8));
  double total = 0;
  for (const float logit : row) total += std::exp(static_cast<double>(logit));
  for (Token id = 0; id < vocab; ++id) {
    const auto count = std::count(drafted.begin(), drafted.end(), id);
    const double probability = std::exp(static_cast<double>(row[static_cast<std::size_t>(id)])) / total;
    CHECK(count_agrees(static_cast<double>(count), rows, probability));
  }
  // A planted fault: without noise the most probable id is always drawn; the same bound finds that.
  CHECK_FALSE(count_agrees(rows, rows, std::exp(2.0) / total));
}

TEST_CASE("a draft without a choice is drawn, whatever the format and the order of threads") {
  for (const simt::Order order : all_orders) {
    std::vector<Bf16> logits(3 * 700, from_float<Bf16>(-INFINITY));
    logits[123] = from_float<Bf16>(-5.0F);
    logits[700 + 699] = from_float<Bf16>(3.0F);
    logits[1400] = from_float<Bf16>(0.0F);
    CHECK(picked(logits, {-1}, 3, 700, 1, order) == std::vector<Token>{123, 699, 0});
  }
}

TEST_CASE("siblings are drawn without replacement") {
  // All requests have the same row: P(x, then y) = p(x) p(y) / (1 - p(x)); each pair is counted.
  constexpr std::int32_t vocab = 4;
  constexpr std::int32_t rows = 6000;
  const std::vector<double> p{0.5, 0.25, 0.15, 0.1};
  std::vector<float> logits;
  for (std::int32_t i = 0; i < rows; ++i) {
    for (const double each : p) logits.push_back(static_cast<float>(std::log(each)));
  }
  const std::vector<Token> drafted = picked(logits, {-1, -1}, rows, vocab, test_seed(12));
  std::vector<double> counts(vocab * vocab, 0);
  for (std::size_t i = 0; i < drafted.size(); i += 2) {
    REQUIRE(drafted[i] != drafted[i + 1]);
    counts[static_cast<std::size_t>(drafted[i] * vocab + drafted[i + 1])] += 1;
  }
  bool independent_fits = true;
  for (std::size_t x = 0; x < vocab; ++x) {
    for (std::size_t y = 0; y < vocab; ++y) {
      if (x == y) continue;
      CHECK(count_agrees(counts[x * vocab + y], rows, p[x] * p[y] / (1 - p[x])));
      // A planted fault: if both are drawn again whenever they are alike, pairs have p(x) p(y) over the sum
      // of unlike pairs.
      independent_fits = independent_fits && count_agrees(counts[x * vocab + y], rows, p[x] * p[y] / 0.655);
    }
  }
  CHECK_FALSE(independent_fits);
}

TEST_CASE("chosen siblings are the likeliest of the draft's row, and none where there are no more ids") {
  const BenchShape shape{3, 12, 501, Dtype::bf16, KernelWorkload::chosen_trees};
  constexpr MadeLogits how{9, 6, 2};
  const Inputs made(shape, how);
  const DraftPlan plan = draft_plan(shape);
  for (std::int32_t request = 0; request < shape.requests; ++request) {
    for (std::int32_t node = -1; node < shape.gamma; ++node) {
      const std::int64_t row = request * (shape.gamma + 1) + node + 1;
      std::vector<std::pair<float, Token>> falling;
      for (Token id = 0; id < shape.vocab; ++id) {
        falling.emplace_back(-to_float(from_float<Bf16>(made_logit(how, row, id).draft)), id);
      }
      std::sort(falling.begin(), falling.end());
      std::size_t rank = 0;
      for (const std::int32_t child : plan.tree.children(node)) {
        CHECK(made.token(request, child) == falling[rank++].second);
      }
    }
  }
  const Inputs few({1, 12, 2, Dtype::f32, KernelWorkload::chosen_trees}, how);
  const std::vector<std::int32_t> children = plan.tree.children(-1);
  REQUIRE(children.size() > 2);
  CHECK(few.token(0, children[0]) != few.token(0, children[1]));
  CHECK(few.token(0, children[2]) == -1);
}

TEST_CASE("every byte is copied, and none beyond") {
  for (const std::int64_t count :
       {std::int64_t{1}, bench::vectors_a_block, 2 * bench::vectors_a_block + 77}) {
    for (const simt::Order order : all_orders) {
      const auto from = counted_vectors(count);
      std::vector<simt::Vector16> to(from.size() + 1, simt::Vector16{{1, 2, 3, 4}});
      simt::EmulatedExecutor executor(order);
      executor.run<bench::CopyBytes>(bench::CopyBytes::launch(count), {from.data(), to.data(), count});
      CHECK(std::memcmp(from.data(), to.data(), from.size() * sizeof(simt::Vector16)) == 0);
      CHECK(to.back().word[3] == 4);
      CHECK(executor.loaded_bytes() == from.size() * sizeof(simt::Vector16));
    }
  }
}

TEST_CASE("every byte is read, once") {
  for (const std::int64_t count :
       {std::int64_t{1}, bench::vectors_a_block, 2 * bench::vectors_a_block + 77}) {
    auto from = counted_vectors(count);
    std::uint32_t expected = 0;
    for (const simt::Vector16& vector : from) {
      for (const std::uint32_t word : vector.word) expected ^= word;
    }
    for (const simt::Order order : all_orders) {
      const simt::Launch launch = bench::ReadBytes::launch(count);
      std::vector<std::uint32_t> parity(static_cast<std::size_t>(launch.blocks), 0);
      simt::EmulatedExecutor executor(order);
      const auto read = [&] {
        executor.run<bench::ReadBytes>(launch, {from.data(), count, parity.data()});
        return std::accumulate(parity.begin(), parity.end(), 0U, [](auto a, auto b) { return a ^ b; });
      };
      CHECK(read() == expected);
      CHECK(executor.loaded_bytes() == from.size() * sizeof(simt::Vector16));
      // A changed bit is found.
      from.back().word[1] ^= 64U;
      CHECK(read() == (expected ^ 64U));
      from.back().word[1] ^= 64U;
    }
  }
}

TEST_CASE("bytes of a measurement are counted, past 32 bits too") {
  const BenchShape shape{256, 16, 256000, Dtype::f32};
  const std::vector<BenchMethod> fused{bench_methods().front()};
  const BenchBytes bytes = bench_bytes(shape, fused);
  CHECK(bytes.target == 256ULL * 17 * 256000 * 4);
  CHECK(bytes.draft == 256ULL * 16 * 256000 * 4);
  CHECK(bytes.copied == bytes.logits() / 2);
  CHECK(bytes.workspaces == layout_of(Implementation::fused, shape_batch(shape).batch).workspace_bytes);
  CHECK(bytes.total() > bytes.logits() + bytes.copied);
}
