// Tests that copies of memories of drafters and policies, held as one value, are independent.
#include "sim/any_memory.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace speclab;

TEST_CASE("a memory starts empty, and a copy does not change with its original") {
  AnyMemory memory;
  const AnyMemory before = memory;
  CHECK(memory.as<std::vector<int>>().empty());
  memory.as<std::vector<int>>() = {1, 2};
  AnyMemory copy = memory;
  copy.as<std::vector<int>>().push_back(3);
  CHECK(memory.as<std::vector<int>>() == std::vector<int>{1, 2});
  CHECK(copy.as<std::vector<int>>() == std::vector<int>{1, 2, 3});
  copy = before;
  CHECK(copy.as<std::vector<int>>().empty());
}

TEST_CASE("assignment to a memory of the same type keeps its buffers, and of another type replaces it") {
  AnyMemory from;
  from.as<std::vector<int>>() = {4};
  AnyMemory to;
  to.as<std::vector<int>>().reserve(100);
  to = from;
  CHECK(to.as<std::vector<int>>() == std::vector<int>{4});
  CHECK(to.as<std::vector<int>>().capacity() == 100);
  AnyMemory other;
  other.as<double>() = 2.5;
  to = other;
  CHECK(to.as<double>() == 2.5);
}
