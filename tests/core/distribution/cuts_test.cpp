// Tests that no cut of a row depends on the rounding of last digits, in transforms.hpp and request_law.hpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/distribution/request_law.hpp"
#include "tests/core/distribution/whole_cuts.hpp"

using namespace speclab;

namespace {

std::vector<double> cut_by(std::vector<double> row, const RequestLaw& law) {
  RequestScratch scratch;
  filter_row(row, law, {}, scratch);
  return row;
}

}  // namespace

// Null: no cut depends on the rounding of a row. The planted fault, a cut without tolerance after the same
// logarithm and softmax, keeps other ids in hundreds of these rows.
TEST_CASE("cuts of rows of fractions are those in whole numbers, also if an option changes nothing") {
  int without_tolerance = 0;
  for (std::uint32_t number = 0; number < 20000; ++number) {
    CAPTURE(number);
    const WholeCuts cuts(number);
    const std::vector<Token> kept = cuts.kept();
    const double top_p = cuts.top_p.value();
    RequestLaw law{.top_k = cuts.top_k, .top_p = top_p, .min_p = cuts.min_p.value()};
    CHECK(support_of(cut_by(cuts.row, law)) == kept);
    law.logit_bias = {{0, 0}};
    CHECK(support_of(cut_by(cuts.row, law)) == kept);
    law.grammar = {{.other = 0}};
    law.order.engine = "llama.cpp";
    CHECK(support_of(cut_by(cuts.row, law)) == kept);
    if (cuts.min_p.above == 0) {
      std::vector<double> row = cuts.row;
      std::vector<Token> order;
      adjust(row, {.top_k = cuts.top_k, .top_p = top_p}, order);
      CHECK(support_of(row) == kept);
    }
    if (cuts.top_k > 0 || cuts.min_p.above > 0 || top_p == 1) continue;
    std::vector<double> row;
    for (const double one : cuts.row) row.push_back(std::log(one));
    softmax(std::vector<double>(row), 1, row);
    std::vector<double> falling = row;
    std::sort(falling.rbegin(), falling.rend());
    std::size_t count = 0;
    for (double running = 0; count < row.size() && running < top_p; ++count) running += falling[count];
    without_tolerance += count == kept.size() ? 0 : 1;
  }
  CHECK(without_tolerance > 200);
}

TEST_CASE("argmax of equal numbers is the lowest id, also if they differ in the last digit") {
  const std::vector<double> row{0.1 + 0.2 - 1e-16, 0.1 + 0.2, 0.4 - 1e-16};
  REQUIRE(row[0] < row[1]);
  const std::vector<double> near{row[0], row[1], 0.1};
  std::vector<Token> order;
  std::vector<double> adjusted = near;
  adjust(adjusted, {.temperature = 0}, order);
  CHECK(support_of(adjusted) == std::vector<Token>{0});
  CHECK(support_of(cut_by(near, {.temperature = 0, .logit_bias = {{0, 0}}})) == std::vector<Token>{0});
  CHECK(support_of(cut_by(near, {.top_k = 1, .logit_bias = {{0, 0}}})) == std::vector<Token>{0});
  adjusted = near;
  adjust(adjusted, {.top_k = 1}, order);
  CHECK(support_of(adjusted) == std::vector<Token>{0});
  CHECK(support_of(cut_by(row, {.temperature = 0})) == std::vector<Token>{2});
}
