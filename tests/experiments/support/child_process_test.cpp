#include "experiments/support/child_process.hpp"

#include <doctest/doctest.h>

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
