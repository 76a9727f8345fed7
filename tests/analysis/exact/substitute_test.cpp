// Tests the law of SubstituteRule against its formula for one drafted token.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/losslessness.hpp"
#include "core/rules/substitute.hpp"

using namespace speclab;

TEST_CASE("a substituted token is followed by a token of the row after the drafted one") {
  using Rows = std::array<std::array<double, 3>, 3>;
  const Rows p{{{0.5, 0.3, 0.2}, {0.1, 0.4, 0.5}, {0, 0.6, 0.4}}};
  const Rows q{{{0.1, 0.3, 0.6}, {0.7, 0.2, 0.1}, {0.2, 0.2, 0.6}}};
  const auto table = [](const Rows& rows) {
    std::vector<std::vector<double>> all;
    for (const auto& row : rows) all.emplace_back(row.begin(), row.end());
    return ExactTable<double>(all);
  };
  const std::array<std::vector<std::size_t>, 4> candidates{{{}, {2}, {2, 1}, {2, 1, 0}}};  // by falling q[0]
  for (std::int32_t k = 0; k <= 3; ++k) {
    CAPTURE(k);
    const auto found = examine<double>(table(p), table(q), SubstituteRule(k), 1, std::vector<Token>{0});
    const auto& kept = candidates[static_cast<std::size_t>(k)];
    for (std::size_t y = 0; y < 3; ++y) {
      for (std::size_t z = 0; z < 3; ++z) {
        double wanted = 0;
        for (std::size_t x = 0; x < 3; ++x) {
          const bool substituted = std::find(kept.begin(), kept.end(), y) != kept.end();
          wanted += q[0][x] * p[0][y] * p[substituted ? x : y][z];
        }
        const auto at = found.distribution.find({static_cast<Token>(y), static_cast<Token>(z)});
        CHECK((at == found.distribution.end() ? 0 : at->second) == doctest::Approx(wanted));
      }
    }
    CHECK((found.lossless() == (k == 0)));
  }
}
