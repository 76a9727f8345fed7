// Tests text_fit: it must not reject a text drawn from the recorded target, and must reject others.
#include "analysis/recorded/text_fit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/analysis/recorded/recorded_chain.hpp"

using namespace speclab;

namespace {

const ChainRows target = random_chain(50, 2, 1);
/// The draft is less certain than the target, and has its own errors.
const ChainRows draft = noisy(at_temperature(target, 1.5), 0.5, 2);

/// Returns each row's argmax as a point.
ChainRows greedy(const ChainRows& rows) {
  ChainRows points = rows;
  for (auto& row : points) {
    const auto top = std::max_element(row.begin(), row.end());
    const auto index = top - row.begin();
    std::fill(row.begin(), row.end(), 0.0);
    row[static_cast<std::size_t>(index)] = 1;
  }
  return points;
}

TextFit fit_of(const ChainRows& text, const ChainRows& column, bool with_rows = false, bool cut = false) {
  return text_fit(recorded_chain(text, column, draft, 40, 250, 7, with_rows), cut);
}

}  // namespace

TEST_CASE("a text drawn from its column fits") {
  const TextFit fit = fit_of(target, target);
  CHECK_FALSE(fit.refuted());
  CHECK(fit.too_large == FitVerdict::fits);
  CHECK(fit.too_small == FitVerdict::fits);
  CHECK(misfit_sentences(fit).empty());
  const TextFit with_rows = fit_of(target, target, true);
  CHECK(with_rows.entropy == FitVerdict::fits);
  CHECK_FALSE(with_rows.refuted());
}

TEST_CASE("a text of temperature 0.7 with columns of temperature 1 does not fit") {
  CHECK(fit_of(at_temperature(target, 0.7), target).too_small == FitVerdict::does_not_fit);
  CHECK(fit_of(at_temperature(target, 0.7), target, true).entropy == FitVerdict::does_not_fit);
  CHECK(misfit_sentences(fit_of(at_temperature(target, 0.7), target)).size() == 1);
}

TEST_CASE("errors of the draft that have nothing to do with p hide the temperature; the entropy shows it") {
  const ChainRows unrelated = noisy(target, 0.1, 3);
  const ChainRows text = at_temperature(target, 0.7);
  CHECK_FALSE(text_fit(recorded_chain(text, target, unrelated, 40, 250, 7), false).refuted());
  CHECK(text_fit(recorded_chain(text, target, unrelated, 40, 250, 7, true), false).entropy ==
        FitVerdict::does_not_fit);
}

TEST_CASE("a greedy text with columns of temperature 1 does not fit") {
  CHECK(fit_of(greedy(target), target).too_small == FitVerdict::does_not_fit);
}

TEST_CASE("a text of a higher temperature, or of nobody, does not fit") {
  CHECK(fit_of(at_temperature(target, 1.5), target).too_large == FitVerdict::does_not_fit);
  const ChainRows uniform(50, std::vector<double>(50, 0.02));
  const TextFit fit = fit_of(uniform, target, true);
  CHECK(fit.too_large == FitVerdict::does_not_fit);
  CHECK(fit.entropy == FitVerdict::does_not_fit);
}

TEST_CASE("a greedy text with its own column fits when the column is said to be cut") {
  // log p is 0 for each token, and q/p is q(argmax): below 1, as it must be.
  const ChainRows points = greedy(target);
  CHECK(fit_of(points, points).too_small == FitVerdict::does_not_fit);
  CHECK_FALSE(fit_of(points, points, false, true).refuted());
  // With rows, the probability that q has where p is 0 is known.
  CHECK_FALSE(fit_of(points, points, true).refuted());
}

TEST_CASE("few tokens tell nothing about small ratios") {
  const TextFit fit = text_fit(recorded_chain(target, target, draft, 3, 10, 7), false);
  CHECK(fit.too_small == FitVerdict::cannot_tell);
}
