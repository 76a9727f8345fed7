// Tests that the emulator finds faults of each kind that it checks: each is planted beside the correct
// kernel.
#include "kernels/simt/emulator.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/simt/collectives.hpp"

using namespace speclab;

namespace {

constexpr int block_threads = 96;

struct SumArgs {
  const int* in;
  std::int64_t* out;
};

/// Each block adds up its 96 numbers, twice. Without the first barrier threads read what others have not
/// written yet; without the second they overwrite what others have not read yet.
template <bool First, bool Second>
struct BlockSum {
  using Args = SumArgs;
  static constexpr const char* name = "block sum";
  static constexpr int threads = block_threads;
  static constexpr int min_blocks = 1;
  struct Shared {
    int values[block_threads];
  };

  void operator()(const Args& args) const {
    auto& shared = simt::shared<Shared>();
    const int thread = simt::thread_index();
    std::int64_t sum = 0;
    for (int time = 0; time < 2; ++time) {
      shared.values[thread] = (1 + time) * args.in[simt::block_index() * block_threads + thread];
      if (First) simt::sync();
      for (const int value : shared.values) sum += value;
      if (Second) simt::sync();
    }
    args.out[simt::block_index() * block_threads + thread] = sum;
  }
};

/// Returns every thread's sum.
template <class Kernel>
std::vector<std::int64_t> block_sums(simt::Order order) {
  std::vector<int> in(5 * block_threads);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 101);
  std::vector<std::int64_t> out(in.size());
  simt::EmulatedExecutor(order).run<Kernel>(simt::launch_of<Kernel>(5), {in.data(), out.data()});
  return out;
}

struct NoArgs {};

template <int Case>
struct Faulty {
  using Args = NoArgs;
  static constexpr const char* name = "faulty";
  static constexpr int threads = 64;
  static constexpr int min_blocks = 1;

  void operator()(const Args&) const {
    if (Case == 0 && simt::thread_index() < 3) simt::sync();
    if (Case == 1) {
      if (simt::thread_index() % 2 == 0) {
        simt::sync();
      } else {
        simt::shuffle_xor(1, 1);
      }
    }
    if (Case == 2 && simt::thread_index() == 40) throw std::runtime_error("thread 40");
    if (Case == 3) simt::shared<Big>();
  }

  struct Big {
    char bytes[50000];
  };
};

struct CollectArgs {
  double* sums;
  std::uint32_t* ballots;
  int* scans;
  std::uint32_t* counter;
};

struct Collect {
  using Args = CollectArgs;
  static constexpr const char* name = "collect";
  static constexpr int threads = 64;
  static constexpr int min_blocks = 1;

  void operator()(const Args& args) const {
    auto& scratch = simt::shared<simt::BlockScratch<double, 2>>();
    const int thread = simt::thread_index();
    const double sum =
        simt::block_reduce(static_cast<double>(thread), scratch, [](double a, double b) { return a + b; });
    args.sums[thread] = sum;
    args.ballots[thread] = simt::ballot(thread % 3 == 0);
    args.scans[thread] = simt::warp_inclusive_sum(thread);
    simt::fetch_add(args.counter, 2U);
  }
};

/// Compares collectives with the shuffles that they replace, on numbers whose sum depends on the order.
struct Compare {
  using Args = CollectArgs;
  static constexpr const char* name = "compare";
  static constexpr int threads = 64;
  static constexpr int min_blocks = 1;

  void operator()(const Args& args) const {
    const int thread = simt::thread_index();
    const int lane = thread % simt::warp_size;
    const double value = 1.0 / (1 + thread);
    double reduced = value;
    for (int mask = 16; mask > 0; mask /= 2) reduced = 3 * reduced + simt::shuffle_xor(reduced, mask);
    double summed = value;
    for (int by = 1; by < simt::warp_size; by *= 2) {
      const double below = simt::shuffle_up(summed, by);
      if (lane >= by) summed = below + summed;
    }
    std::uint32_t bits = thread % 5 == 0 ? 1U << static_cast<unsigned>(lane) : 0;
    for (int mask = 16; mask > 0; mask /= 2) bits |= simt::shuffle_xor(bits, mask);
    const auto same = [&](int at, bool holds) { args.scans[thread] += holds ? 1 << at : 0; };
    same(0, simt::warp_reduce(value, [](double a, double b) { return 3 * a + b; }) == reduced);
    same(1, simt::warp_inclusive_sum(value) == summed);
    same(2, simt::ballot(thread % 5 == 0) == bits);
  }
};

struct ClusterArgs {
  int* out;
};

/// Every block writes its number to the next block of the cluster.
struct Neighbours {
  using Args = ClusterArgs;
  static constexpr const char* name = "neighbours";
  static constexpr int threads = 32;
  static constexpr int min_blocks = 1;

  void operator()(const Args& args) const {
    auto* const mine = reinterpret_cast<int*>(simt::dynamic_shared());
    const int next = (simt::cluster_rank() + 1) % simt::cluster_size();
    simt::cluster_sync();
    if (simt::thread_index() == 0) *simt::cluster_shared(mine, next) = static_cast<int>(simt::block_index());
    simt::cluster_sync();
    if (simt::thread_index() == 0) args.out[simt::block_index()] = *mine;
  }
};

template <class Kernel>
std::string failure_of() {
  try {
    simt::EmulatedExecutor().run<Kernel>(simt::launch_of<Kernel>(2), {});
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a missing barrier shows when threads take turns in another order") {
  std::vector<std::int64_t> expected;
  for (std::int64_t block = 0; block < 5; ++block) {
    std::int64_t sum = 0;
    for (std::int64_t i = 96 * block; i < 96 * (block + 1); ++i) sum += 3 * (i * i % 101);
    expected.insert(expected.end(), block_threads, sum);
  }
  for (const simt::Order order : {simt::Order::forward, simt::Order::backward, simt::Order::shuffled}) {
    CHECK(block_sums<BlockSum<true, true>>(order) == expected);
    CHECK(block_sums<BlockSum<false, true>>(order) != expected);
    CHECK(block_sums<BlockSum<true, false>>(order) != expected);
  }
}

TEST_CASE("threads that never meet are an error, not a hang") {
  CHECK(failure_of<Faulty<0>>().find("different barriers") != std::string::npos);
  CHECK(failure_of<Faulty<1>>().find("different barriers") != std::string::npos);
  CHECK(failure_of<Faulty<2>>() == "thread 40");
  CHECK(failure_of<Faulty<3>>().find("50000 bytes of static shared memory") != std::string::npos);
  CHECK(failure_of<Faulty<4>>().empty());
}

TEST_CASE("launches that no GPU takes are refused") {
  for (const simt::Launch& launch :
       {simt::Launch{.threads = 33}, simt::Launch{.threads = 2048}, simt::Launch{.blocks = 3, .cluster = 2},
        simt::Launch{.dynamic_shared = 1U << 20U}, simt::Launch{.blocks = std::int64_t{1} << 31U}}) {
    simt::Loads loads;
    CHECK_THROWS_AS(simt::emulate(launch, simt::Order::forward, loads, [] {}), simt::EmulationError);
  }
}

TEST_CASE("collectives give every thread what arithmetic says") {
  for (const simt::Order order : {simt::Order::forward, simt::Order::backward, simt::Order::shuffled}) {
    std::vector<double> sums(64);
    std::vector<std::uint32_t> ballots(64);
    std::vector<int> scans(64);
    std::uint32_t counter = 0;
    simt::EmulatedExecutor(order).run<Collect>(simt::launch_of<Collect>(3),
                                               {sums.data(), ballots.data(), scans.data(), &counter});
    for (std::size_t thread = 0; thread < 64; ++thread) {
      CHECK(sums[thread] == 64 * 63 / 2);
      std::uint32_t bits = 0;
      int scan = 0;
      for (std::size_t lane = 0; lane < 32; ++lane) {
        const std::size_t other = thread / 32 * 32 + lane;
        if (other % 3 == 0) bits |= 1U << lane;
        if (other <= thread) scan += static_cast<int>(other);
      }
      CHECK(ballots[thread] == bits);
      CHECK(scans[thread] == scan);
    }
    CHECK(counter == 3 * 64 * 2);
  }
}

TEST_CASE("collectives have the bits of the shuffles that a GPU makes") {
  for (const simt::Order order : {simt::Order::forward, simt::Order::backward, simt::Order::shuffled}) {
    std::vector<int> same(64);
    simt::EmulatedExecutor(order).run<Compare>(simt::launch_of<Compare>(1),
                                               {nullptr, nullptr, same.data(), nullptr});
    CHECK(same == std::vector<int>(64, 7));
  }
}

TEST_CASE("blocks of a cluster reach each other's shared memory") {
  std::vector<int> out(8);
  simt::EmulatedExecutor().run<Neighbours>(
      {.kernel = "neighbours", .blocks = 8, .threads = 32, .cluster = 4, .dynamic_shared = 16}, {out.data()});
  CHECK(out == std::vector<int>{3, 0, 1, 2, 7, 4, 5, 6});
}
