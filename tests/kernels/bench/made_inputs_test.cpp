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
  std::vector<float> target;
  std::vector<float> draft;
  std::vector<Token> drafted;

  Inputs(const BenchShape& of, const MadeLogits& made, simt::Order order = simt::Order::forward)
      : shape(of), how(made) {
    const auto rows = static_cast<std::size_t>(of.requests) * static_cast<std::size_t>(of.gamma);
    const auto vocab = static_cast<std::size_t>(of.vocab);
    target.resize((rows + static_cast<std::size_t>(of.requests)) * vocab, -1000);
    draft.resize(rows * vocab, -1000);
    drafted.resize(rows, -1);
    make_inputs(simt::EmulatedExecutor(order), of, made, target.data(), draft.data(), drafted.data());
  }
};

}  // namespace

TEST_CASE("logits are what their addresses say, in any order of threads") {
  const BenchShape shape{2, 2, 1027, Dtype::f32};
  constexpr MadeLogits how{9, 2.5F, 0.7F};
  for (const simt::Order order : all_orders) {
    const Inputs made(shape, how, order);
    int wrong = 0;
    for (std::int32_t request = 0; request < shape.requests; ++request) {
      for (std::int32_t i = 0; i <= shape.gamma; ++i) {
        for (std::int32_t id = 0; id < shape.vocab; ++id) {
          const MadeLogit expected = made_logit(how, request * (shape.gamma + 1) + i, id);
          const auto at = [&](std::int32_t positions) {
            return static_cast<std::size_t>((request * positions + i) * shape.vocab + id);
          };
          wrong += made.target[at(shape.gamma + 1)] == expected.target ? 0 : 1;
          if (i < shape.gamma) wrong += made.draft[at(shape.gamma)] == expected.draft ? 0 : 1;
        }
      }
    }
    CHECK(wrong == 0);
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
  // All rows alike: every request draws from the distribution of one row.
  constexpr std::int32_t vocab = 5;
  constexpr std::int32_t rows = 4000;
  const std::vector<float> row{0.5F, -1, 2, 0, 1};
  std::vector<float> logits;
  for (std::int32_t i = 0; i < rows; ++i) logits.insert(logits.end(), row.begin(), row.end());
  std::vector<Token> drafted(rows, -1);
  simt::EmulatedExecutor executor;
  using Draws = bench::DrawDrafts<float>;
  executor.run<Draws>(Draws::launch(rows), {logits.data(), drafted.data(), vocab, test_seed(8)});
  double total = 0;
  for (const float logit : row) total += std::exp(static_cast<double>(logit));
  for (Token id = 0; id < vocab; ++id) {
    const auto count = std::count(drafted.begin(), drafted.end(), id);
    const double probability = std::exp(static_cast<double>(row[static_cast<std::size_t>(id)])) / total;
    CHECK(count_agrees(static_cast<double>(count), rows, probability));
  }
  // A planted fault: without noise the greatest is always drawn, which the same bound finds.
  CHECK_FALSE(count_agrees(rows, rows, std::exp(2.0) / total));
}

TEST_CASE("a draft without a choice is drawn, whatever the format and the order of threads") {
  for (const simt::Order order : all_orders) {
    std::vector<Bf16> logits(3 * 700, from_float<Bf16>(-INFINITY));
    logits[123] = from_float<Bf16>(-5.0F);
    logits[700 + 699] = from_float<Bf16>(3.0F);
    logits[1400] = from_float<Bf16>(0.0F);
    std::vector<Token> drafted(3, -1);
    simt::EmulatedExecutor executor(order);
    using Draws = bench::DrawDrafts<Bf16>;
    executor.run<Draws>(Draws::launch(3), {logits.data(), drafted.data(), 700, 1});
    CHECK(drafted == std::vector<Token>{123, 699, 0});
  }
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
      // A changed bit shows.
      from.back().word[1] ^= 64U;
      CHECK(read() == (expected ^ 64U));
      from.back().word[1] ^= 64U;
    }
  }
}

TEST_CASE("skipping verification keeps every draft") {
  const std::vector<Token> drafted{3, 1, 4, 1, 5, 9};
  std::vector<std::int32_t> accepted(3, -1);
  std::vector<Token> next(4, -1);
  simt::EmulatedExecutor executor;
  executor.run<bench::SkipVerification>(bench::SkipVerification::launch(3),
                                        {drafted.data(), accepted.data(), next.data(), 3, 2});
  CHECK(accepted == std::vector<std::int32_t>{2, 2, 2});
  CHECK(next == std::vector<Token>{1, 1, 9, -1});
}

TEST_CASE("bytes of a measurement are counted, past 32 bits too") {
  const BenchShape shape{256, 16, 256000, Dtype::f32};
  const BenchBytes bytes = bench_bytes(shape, {Implementation::fused});
  CHECK(bytes.target == 256ULL * 17 * 256000 * 4);
  CHECK(bytes.draft == 256ULL * 16 * 256000 * 4);
  CHECK(bytes.copied == bytes.logits() / 2);
  CHECK(bytes.workspaces == layout_of(Implementation::fused, shape_batch(shape)).workspace_bytes);
  CHECK(bytes.total() > bytes.logits() + bytes.copied);
}
