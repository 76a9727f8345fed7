// Tests `plan sampling`: closed forms, a drawn text compared with exact numbers, and refusals.
#include "serving/advisor/sampling_plan.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "analysis/theory/theorems.hpp"
#include "experiments/base/format/config_error.hpp"
#include "sim/models/synthetic.hpp"
#include "sim/models/table_model.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

/// A table that hides its finite memory, so that its text must be drawn.
struct Unbounded {
  TableModel table;
  std::int32_t vocab() const { return table.vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const {
    return table.next(context, scratch);
  }
};

TableModel markov(std::uint64_t seed, double concentration) {
  return {5, 1, dirichlet_rows(5, 5, concentration, seed)};
}

SamplingPlan plan_of(const SamplingSource& source, const SamplingQuestion& question) {
  const auto plan = plan_sampling(source, question, {});
  REQUIRE(plan.has_value());
  return *plan;
}

SamplingPlan exact_plan(const Model& target, const Model& draft, const SamplingQuestion& question) {
  const SamplingSource source = sampling_source(target, draft, {}, {}, question.gamma);
  REQUIRE(source.exact);
  return plan_of(source, question);
}

const SamplingRow& row_of(const SamplingPlan& plan, DraftSampling draft, TextRule rule) {
  for (const SamplingRow& row : plan.rows) {
    if (row.draft == draft && row.rule == rule) return row;
  }
  FAIL("no such row");
  return plan.rows.front();
}

/// Returns the largest distance of the drawn rows from the exact ones, in standard errors.
double largest_distance(const SamplingPlan& drawn, const SamplingPlan& exact) {
  REQUIRE(drawn.rows.size() == exact.rows.size());
  constexpr double normal = 1.959964;
  double largest = 0;
  for (std::size_t i = 0; i < drawn.rows.size(); ++i) {
    const auto see = [&](const Interval& sampled, double truth) {
      REQUIRE(sampled.bounded());
      if (sampled.half_width() > 1e-12)
        largest = std::max(largest, std::abs(sampled.estimate - truth) / (sampled.half_width() / normal));
    };
    see(drawn.rows[i].acceptance, exact.rows[i].acceptance.estimate);
    see(*drawn.rows[i].tokens_per_target_step, exact.rows[i].tokens_per_target_step->estimate);
  }
  return largest;
}

}  // namespace

TEST_CASE("without context the rows are the closed forms") {
  const TableModel target(3, 0, {5, 3, 2});
  const TableModel draft(3, 0, {4, 5, 1});
  const SamplingPlan plan = exact_plan(target, draft, {.gamma = 4});
  CHECK(plan.rows.size() == 9);
  const auto check = [&](DraftSampling drafting, TextRule rule, double alpha) {
    const SamplingRow& row = row_of(plan, drafting, rule);
    CHECK(row.acceptance.estimate == doctest::Approx(alpha));
    CHECK(row.tokens_per_target_step->estimate == doctest::Approx(expected_tokens(alpha, 4)));
  };
  check(DraftSampling::argmax, TextRule::match, 0.3);
  check(DraftSampling::argmax, TextRule::token, 0.3);
  // A draft without randomness gives block and token the same acceptance.
  check(DraftSampling::argmax, TextRule::block, 0.3);
  check(DraftSampling::as_target, TextRule::match, 0.5 * 0.4 + 0.3 * 0.5 + 0.2 * 0.1);
  check(DraftSampling::as_target, TextRule::token, 0.8);
  CHECK(row_of(plan, DraftSampling::as_target, TextRule::block).tokens_per_target_step->estimate >
        expected_tokens(0.8, 4));
  CHECK(row_of(plan, DraftSampling::best, TextRule::token).acceptance.estimate > 0.8);
}

TEST_CASE("a draft that ignores the target's top-k is accepted less often, by what falls outside") {
  const TableModel target(4, 0, {4, 3, 2, 1});
  const SamplingPlan plan = exact_plan(target, target, {.top_k = {2}, .gamma = 3});
  CHECK(row_of(plan, DraftSampling::as_target, TextRule::token).acceptance.estimate == doctest::Approx(1));
  CHECK(row_of(plan, DraftSampling::unfiltered, TextRule::token).acceptance.estimate == doctest::Approx(0.7));
  CHECK(row_of(plan, DraftSampling::best, TextRule::token).draft_temperature ==
        doctest::Approx(1).epsilon(1e-3));
}

TEST_CASE("at temperature 0 the target's argmax is what is accepted") {
  const TableModel target(3, 0, {5, 3, 2});
  const SamplingPlan plan =
      exact_plan(target, TableModel(3, 0, {6, 3, 1}), {.temperatures = {0}, .draft_temperatures = {1}});
  CHECK(row_of(plan, DraftSampling::argmax, TextRule::token).tokens_per_target_step->estimate == 6);
  for (const TextRule rule : {TextRule::match, TextRule::token})
    CHECK(row_of(plan, DraftSampling::temperature, rule).acceptance.estimate == doctest::Approx(0.6));
  CHECK(row_of(plan, DraftSampling::best, TextRule::token).draft_temperature == 0);
}

TEST_CASE("a text that is drawn agrees with exact numbers, and not with those of another draft") {
  // Null: the drawn rows' expectations are the exact ones. 48 numbers must be within seven standard errors, a
  // false alarm in 1e-10 (Student's t over 64 sequences; all sequences begin at one context, which 400 tokens
  // forget). Power: a draft whose mixture differs by 0.1 was more than seven standard errors away in every
  // run seen.
  const TableModel target = markov(1, 1);
  const TableModel draft = mixed(target, markov(2, 1), 0.5);
  const TableModel other = mixed(target, markov(2, 1), 0.6);
  const SamplingQuestion question{.temperatures = {0.7, 1}, .draft_temperatures = {1}, .gamma = 3};
  SimulationSize simulation;
  simulation.seed = test_seed(5);
  const SamplingSource source =
      sampling_source(Unbounded{target}, Unbounded{draft}, simulation, {64, 400}, question.gamma);
  REQUIRE_FALSE(source.exact);
  SamplingPlan drawn = plan_of(source, question);
  const SamplingPlan exact = exact_plan(target, draft, question);
  CHECK(largest_distance(drawn, exact) < bound_in_sigmas);
  CHECK(largest_distance(drawn, exact_plan(target, other, question)) > bound_in_sigmas);
}

TEST_CASE("recorded rows tell acceptance at every setting, and tokens where the text was drawn") {
  const std::string file =
      (std::filesystem::path(SPECLAB_SOURCE_DIR) / "configs/recorded/austen_rows.jsonl").string();
  const SamplingSource source = sampling_source_of_recording(file, "");
  const SamplingPlan plan = plan_of(source, {.temperatures = {1}});
  // `speclab prove --recording` gives this mean for the rule token in these contexts.
  CHECK(row_of(plan, DraftSampling::as_target, TextRule::token).acceptance.estimate ==
        doctest::Approx(0.680).epsilon(1e-3));
  for (const SamplingRow& row : plan.rows) CHECK_FALSE(row.tokens_per_target_step.has_value());
}

TEST_CASE("files without rows are refused") {
  const std::string file =
      (std::filesystem::path(SPECLAB_SOURCE_DIR) / "configs/recorded/austen.csv").string();
  CHECK_THROWS_AS(sampling_source_of_recording(file, ""), UsageError);
  CHECK_THROWS_AS(sampling_source_of_recording("missing.jsonl", ""), UsageError);
}
