#include "sim/models/table_model.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/distribution/divergence.hpp"
#include "core/round/round.hpp"
#include "sim/error.hpp"
#include "sim/models/synthetic.hpp"

using namespace speclab;

namespace {

static_assert(LanguageModel<TableModel>);

double first_probability(const TableModel& model, const std::vector<Token>& context) {
  std::vector<double> scratch;
  return model.next(context, scratch)[0];
}

std::string failure(std::int32_t vocab, std::int32_t order, const std::vector<double>& probability) {
  try {
    TableModel(vocab, order, probability);
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TableModel markov(std::int32_t vocab, std::uint64_t seed) {
  return {vocab, 1, dirichlet_rows(vocab, static_cast<std::uint32_t>(vocab), 1, seed)};
}

}  // namespace

TEST_CASE("order 0: one row for every context") {
  const TableModel model(2, 0, {0.25, 0.75});
  CHECK(model.contexts() == 1);
  CHECK(first_probability(model, {}) == 0.25);
  CHECK(first_probability(model, {1, 0, 1}) == 0.25);
}

TEST_CASE("order 1: the last token chooses the row; without one it is token 0") {
  const TableModel model(2, 1, {0.25, 0.75, 0.5, 0.5});
  CHECK(model.contexts() == 2);
  CHECK(first_probability(model, {}) == 0.25);
  CHECK(first_probability(model, {0}) == 0.25);
  CHECK(first_probability(model, {0, 1}) == 0.5);
  CHECK(first_probability(model, {1, 0}) == 0.25);
}

TEST_CASE("order 2: the last two tokens in base vocab, the most recent lowest; short contexts start with 0") {
  const TableModel model(2, 2, {1, 0, 0.75, 0.25, 0.5, 0.5, 0.25, 0.75});
  CHECK(model.contexts() == 4);
  CHECK(first_probability(model, {}) == 1);
  CHECK(first_probability(model, {1}) == 0.75);
  CHECK(first_probability(model, {0, 1}) == 0.75);
  CHECK(first_probability(model, {1, 0}) == 0.5);
  CHECK(first_probability(model, {0, 0, 1, 1}) == 0.25);
}

TEST_CASE("rows are normalised") {
  const TableModel model(2, 1, {1, 3, 10, 10});
  CHECK(first_probability(model, {0}) == 0.25);
  CHECK(first_probability(model, {1}) == 0.5);
}

TEST_CASE("bad probabilities are named by row and token") {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  const double huge = std::numeric_limits<double>::max();
  for (const double bad : {-0.1, nan, infinity, -infinity}) {
    const std::string message = failure(2, 1, {1, 1, 1, bad});
    CAPTURE(message);
    CHECK(mentions(message, "row 1"));
    CHECK(mentions(message, "token 1"));
  }
  CHECK(mentions(failure(2, 1, {1, 1, 0, 0}), "row 1"));
  CHECK(mentions(failure(2, 0, {huge, huge}), "cannot be normalised"));
}

TEST_CASE("a mixture walks the contexts of the longer model") {
  const TableModel base(2, 0, {0.2, 0.8});
  const TableModel other(2, 1, {1, 0, 0, 1});
  const TableModel forward = mixed(base, other, 0.25);
  CHECK(forward.order() == 1);
  CHECK(first_probability(forward, {0}) == doctest::Approx(0.75 * 0.2 + 0.25));
  CHECK(first_probability(forward, {1}) == doctest::Approx(0.75 * 0.2));
  CHECK(first_probability(mixed(other, base, 0.75), {1}) == doctest::Approx(0.75 * 0.2));
  // Order 2 is mixed with order 1: the most recent token decides for the shorter model.
  const TableModel long_other(2, 2, {1, 0, 1, 0, 0, 1, 0, 1});
  CHECK(first_probability(mixed(other, long_other, 0.5), {0, 1}) == doctest::Approx(0.5));
  CHECK(first_probability(mixed(other, long_other, 0.5), {1, 0}) == doctest::Approx(0.5));
}

TEST_CASE("mixed_to_alpha: the overlap is alpha in every context") {
  for (const double alpha : {0.6, 0.8, 0.95, 1.0}) {
    const TableModel base = markov(6, 3);
    const TableModel far(6, 0, point_row(6, 5));
    const TableModel other = mixed(base, far, 0.99);
    double reachable = 0;
    for (std::size_t context = 0; context < 6; ++context) {
      reachable = std::max(reachable, overlap(base.row(context), other.row(context)));
    }
    if (alpha < reachable) {
      CHECK_THROWS_AS(mixed_to_alpha(base, other, alpha), ModelError);
      continue;
    }
    const TableModel draft = mixed_to_alpha(base, other, alpha);
    for (std::size_t context = 0; context < 6; ++context) {
      CHECK(overlap(base.row(context), draft.row(context)) == doctest::Approx(alpha).epsilon(1e-13));
    }
  }
}

TEST_CASE("mixed_to_alpha says which alpha is the lowest") {
  // The overlaps are .5 and .75: the second context limits alpha.
  const TableModel base(2, 1, {1, 0, 1, 0});
  const TableModel other(2, 1, {0.5, 0.5, 0.75, 0.25});
  CHECK_NOTHROW(mixed_to_alpha(base, other, 0.75));
  try {
    mixed_to_alpha(base, other, 0.7);
    FAIL("reached an unreachable alpha");
  } catch (const ModelError& error) {
    CHECK(mentions(error.what(), "0.75"));
  }
  // Mixing a model with itself only reaches alpha 1, without a division by zero.
  CHECK_THROWS_AS(mixed_to_alpha(base, base, 0.9), ModelError);
  const TableModel same = mixed_to_alpha(base, base, 1);
  CHECK(same.row(0)[0] == 1);
}
