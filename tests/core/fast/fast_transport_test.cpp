#include "core/fast/fast_transport.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/distribution/ratio_order.hpp"
#include "core/fast/fast_ratio_order.hpp"
#include "core/random/philox.hpp"

using namespace speclab;

namespace {

struct Pair {
  std::vector<double> target;
  std::vector<double> draft;

  Row p() const { return {target.data(), static_cast<std::int32_t>(target.size())}; }
  Row q() const { return {draft.data(), static_cast<std::int32_t>(draft.size())}; }
};

void normalise_row(std::vector<double>& row) {
  double total = 0;
  for (const double probability : row) total += probability;
  for (double& probability : row) probability /= total;
}

/// Returns rows as language models have them: a common tail of one ratio up to rounding, some tokens with
/// their own ratio, some that one side lacks, and ties.
Pair random_pair(std::uint32_t number, std::size_t size) {
  Philox stream(11, Site{number, 0, Draw{Use::world, 0}});
  Pair pair{std::vector<double>(size), std::vector<double>(size)};
  const double sharp = 1 + 3 * open_unit(stream());
  for (std::size_t i = 0; i < size; ++i) {
    const double common = open_unit(stream()) / static_cast<double>(i + 1);
    pair.target[i] = 0.3 * common;
    pair.draft[i] = 0.7 * common;
    switch (stream() % 6) {
      case 0:
        pair.target[i] = std::pow(open_unit(stream()), sharp);
        break;
      case 1:
        pair.draft[i] = std::pow(open_unit(stream()), sharp);
        break;
      case 2:
        if (i % 3 == 0) pair.target[i] = 0;
        if (i % 3 == 1) pair.draft[i] = 0;
        break;
      default:
        break;
    }
  }
  pair.target[0] += 0.1;
  pair.draft[size - 1] += 0.1;
  normalise_row(pair.target);
  normalise_row(pair.draft);
  return pair;
}

/// Returns 1 + min over all sets.
double by_all_sets(const Pair& pair, int drafts) {
  double least = 0;
  const std::size_t size = pair.target.size();
  for (std::uint32_t set = 0; set < (1U << size); ++set) {
    double p = 0;
    double q = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if ((set >> i & 1U) == 0) continue;
      p += pair.target[i];
      q += pair.draft[i];
    }
    least = std::min(least, p - std::pow(q, drafts));
  }
  return 1 + least;
}

}  // namespace

TEST_CASE("the fast bound is the bound") {
  for (std::uint32_t number = 0; number < 40; ++number) {
    for (const std::size_t size : {1U, 2U, 3U, 7U, 40U, 1000U, 5000U}) {
      const Pair pair = random_pair(number, size);
      for (const int drafts : {1, 2, 3, 4, 8, 64}) {
        CAPTURE(number);
        CAPTURE(size);
        CAPTURE(drafts);
        const double fast = fast_transport_acceptance(pair.p(), pair.q(), drafts);
        CHECK(std::abs(fast - optimal_transport_acceptance(pair.p(), pair.q(), drafts)) < 1e-12);
        if (size <= 7) CHECK(std::abs(fast - by_all_sets(pair, drafts)) < 1e-12);
      }
    }
  }
}

TEST_CASE("a minimum inside a bin is found") {
  // Ratios from 1 to 1.06 share a bin of a sixteenth of an octave. With k = 2 the slope of P - Q^2 over Q is
  // ratio - 2 Q, which runs from -.02 to .02 within it.
  Pair pair{{0.102}, {0.51}};
  constexpr int steps = 100;
  for (int i = 0; i < steps; ++i) {
    pair.draft.push_back(0.01 / steps);
    pair.target.push_back(pair.draft.back() * (1 + 0.06 * i / steps));
  }
  pair.draft.push_back(0.48);
  pair.target.push_back(0.888);
  const double exact = optimal_transport_acceptance(pair.p(), pair.q(), 2);
  CHECK(exact < 1);
  CHECK(std::abs(fast_transport_acceptance(pair.p(), pair.q(), 2) - exact) < 1e-12);
  // This is the value from the borders of bins alone.
  double p = 0;
  double q = 0;
  double borders = 0;
  for (std::size_t i = 0; i < pair.target.size(); ++i) {
    p += pair.target[i];
    q += pair.draft[i];
    if (i == 0 || i >= steps) borders = std::min(borders, p - q * q);
  }
  CHECK(1 + borders > exact + 1e-6);
}

TEST_CASE("the golden vector") {
  const Pair pair{{0.5, 0.3, 0.2}, {0.1, 0.3, 0.6}};
  CHECK(fast_transport_acceptance(pair.p(), pair.q(), 1) == doctest::Approx(0.6).epsilon(1e-14));
  CHECK(fast_transport_acceptance(pair.p(), pair.q(), 2) == doctest::Approx(0.69).epsilon(1e-14));
  CHECK(fast_transport_acceptance(pair.p(), pair.q(), 3) == doctest::Approx(0.771).epsilon(1e-14));
  CHECK(fast_transport_acceptance(pair.p(), pair.p(), 1) == 1);
  const Pair disjoint{{1, 0}, {0, 1}};
  CHECK(fast_transport_acceptance(disjoint.p(), disjoint.q(), 4) == 0);
}

TEST_CASE("sorting by digits gives the order that comparing gives") {
  for (std::uint32_t number = 0; number < 20; ++number) {
    for (const std::size_t size : {1U, 2U, 40U, 3000U}) {
      Pair pair = random_pair(number, size);
      CHECK(radix_by_ratio(pair.p(), pair.q()) == by_ratio(pair.p(), pair.q()));
      // The pair gets exact ties, also at ratio zero and infinity.
      for (std::size_t i = 0; i < size; i += 2) {
        pair.target[i] = i % 4 == 0 ? 0.25 : 0;
        pair.draft[i] = i % 8 == 0 ? 0.25 : i % 8 == 4 ? 0 : 0.5;
      }
      CHECK(radix_by_ratio(pair.p(), pair.q()) == by_ratio(pair.p(), pair.q()));
      CHECK(fast_by_ratio(pair.p(), pair.q()) == by_ratio(pair.p(), pair.q()));
    }
  }
}
