#include "experiments/base/support/child_process.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>

#include "core/stop.hpp"

using namespace speclab;

TEST_CASE("programs are run with input and environment, or found missing") {
  CHECK_FALSE(run_child_process({"no-such-program-anywhere"}));
  const auto cat =
      run_child_process({"sh", "-c", "cat; echo \"$SPECLAB_WORD\" >&2; exit 3"}, "in", {"SPECLAB_WORD=here"});
  REQUIRE(cat);
  CHECK(cat->status == 3);
  CHECK(cat->out == "in");
  CHECK(cat->err == "here\n");
  CHECK(run_child_process({"sh", "-c", "kill -TERM $$"})->status == 128 + 15);
}

TEST_CASE("a program that ends with this work is killed; others are waited for") {
  const std::function<bool()> stop = [] { return true; };
  const StopScope scope(&stop);
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(run_child_process({"sleep", "60"}, "", {}, ChildProcess::ends_with_us), Stopped);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
  CHECK(run_child_process({"sh", "-c", "exit 5"})->status == 5);
}
