#include "sim/parallel.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

using namespace speclab;

TEST_CASE("every index is run once") {
  std::vector<std::atomic<int>> runs(10007);
  for_each_index(runs.size(), [&](std::size_t i) { ++runs[i]; });
  for (const auto& count : runs) CHECK(count == 1);
}

TEST_CASE("a body that returns false ends a loop of 10^15 indices, and a loop inside another ends alone") {
  std::atomic<std::uint64_t> inner{0};
  std::atomic<int> outer{0};
  for_each_index(8, [&](std::size_t) {
    ++outer;
    std::atomic<int> left{1000};
    for_each_index(1'000'000'000'000'000, [&](std::size_t) {
      ++inner;
      return --left > 0;
    });
  });
  CHECK(outer == 8);
  CHECK(inner >= 8 * 1000);
  CHECK(inner < 8 * 2000);
}

TEST_CASE("an exception of a body comes out of the loop") {
  CHECK_THROWS_AS(for_each_index(100,
                                 [](std::size_t i) {
                                   if (i == 50) throw std::runtime_error("fifty");
                                 }),
                  std::runtime_error);
}
