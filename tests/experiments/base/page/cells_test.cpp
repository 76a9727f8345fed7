#include "experiments/base/page/cells.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace speclab;

TEST_CASE("intervals: ± where the sides are alike, else both sides, so that nothing outside is shown") {
  CHECK(interval_text({1.716, 1.704, 1.728}) == "1.716 ± 0.012");
  CHECK(interval_text({1.716, 1.7041, 1.728}) == "1.716 ± 0.012");
  // A share of at most 1, and a share with few successes, have asymmetric intervals.
  CHECK(interval_text({0.9901, 0.9631, 1}) == "0.990 +0.010 −0.027");
  CHECK(interval_text({0.04, 0.0006, 0.52}) == "0.04 +0.48 −0.04");
  // A ± would lead beyond the values of a time and of a share.
  CHECK(interval_text({632, 0, 1291}) == "632 +659 −632");
  CHECK(interval_text({0.955, 0.905, 1}) == "0.955 +0.045 −0.050");
  CHECK(interval_text({0.8, 0.6, 1}) == "0.80 ± 0.20");
  CHECK(interval_text({0.8, 0.8, 0.8}) == "0.8");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(interval_text({0.8, -infinity, infinity}) == "0.8 ± ?");
}
