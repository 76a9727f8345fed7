#include <fmt/format.h>
#include <algorithm>

#include "analysis/statistics/quality_estimates.hpp"
#include "core/stop.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/studies/rules/rule_comparison.hpp"

namespace speclab {

SPECLAB_RESULT(RuleComparison, "rule_quality", drafts, lossless, equality_test);

namespace {

struct RulesSection {
  bool equality_test = false;  ///< also runs the test of `speclab check`
};

/// Numbers of a cell that are not functions of one another; "simultaneous" widens their intervals.
constexpr int independent_numbers = 7;
constexpr std::size_t max_categories = 60;

RuleQualityOptions quality_options(const Setup& setup, const Config& config) {
  const double temperature = sampling_of(config.models->target, config.sampling).temperature;
  return {.lossless = expected_lossless(config.rule, temperature), .argmax_target = setup.argmax_target};
}

void describe_simulation(const Config& config, const Job& job, CellResult& result, double confidence) {
  const std::vector<Tally>& batches = job.outcome.batches;
  const Independence independence = independence_of_rounds(job);
  result.simulated = simulated_metrics(batches, config.cost, confidence, independence, limits_of(job));
  const bool one_context = job.setup->target.context_free() && job.setup->draft.context_free();
  const Independence of_contexts =
      one_context ? Independence::rounds : independence_of_contexts(job.simulation);
  for (const Estimate& estimate : quality_estimates(batches, confidence, of_contexts)) {
    if (estimate.interval) result.simulated.emplace_back(known_metric(estimate.name), *estimate.interval);
  }
  if (job.quality_options.lossless) {
    result.simulated.emplace_back(Metric::tv_to_target, Interval{0, 0, 0});
    result.proved = {Metric::tv_to_target};
  }
  result.positions = acceptance_by_position(batches, config.gamma, confidence, independence);
  const Tally total = job.outcome.total();
  result.counts = counts_of(total);
  result.counts.draft_runs = total.draft_runs;
}

/// Tests equality. Throws Stopped.
EqualityResult tested_equality(const Config& config, const Setup& setup, const Control& control) {
  // The experiment's progress counts rounds, and the test has none.
  const Control silent{.stop = control.stop, .progress = [](std::uint64_t) {}};
  auto test = test_equality(setup, config.gamma, config.section<CheckSection>(), silent);
  if (!test) throw Stopped{};
  return *std::move(test);
}

void check_rules(const Config& cell) {
  check_setup(cell);
  if (cell.section<RulesSection>().equality_test) require_power(cell.section<CheckSection>());
}

Work prepare_rules(const CellSpec& cell, JobList& jobs) {
  const Config& config = cell.config;
  const auto setup = jobs.setup(config);
  Job& job = jobs.rule_quality(setup, config.gamma, quality_options(*setup, config));
  const bool lossless = job.quality_options.lossless;
  const bool tests_equality = lossless && config.section<RulesSection>().equality_test;
  const auto finish = [=, &config, &job](CellResult& result, const RunContext& context) {
    RuleComparison comparison{
        .drafts = setup->rule.sampled->first_drafts(config.gamma), .lossless = lossless, .equality_test = {}};
    if (tests_equality) comparison.equality_test = tested_equality(config, *setup, context.control);
    describe_simulation(config, job, result, context.confidence);
    result.own = std::move(comparison);
  };
  return {.jobs = {&job},
          .finish = finish,
          .own_steps = tests_equality ? std::optional<std::uint64_t>(0) : std::nullopt};
}

const Interval& first_acceptance(const CellResult& cell) {
  return *find(cell.simulated, Metric::first_token_acceptance);
}

std::vector<const CellResult*> ordered(const std::vector<CellResult>& cells) {
  std::vector<const CellResult*> rules;
  for (const CellResult& cell : cells) {
    if (cell.own && find(cell.simulated, Metric::first_token_acceptance) != nullptr) rules.push_back(&cell);
  }
  std::ranges::stable_sort(rules, {}, [](const CellResult* cell) {
    return std::pair(own<RuleComparison>(*cell).drafts, first_acceptance(*cell).estimate);
  });
  return rules;
}

/// Draws each rule's first-token acceptance beside the optimal transport bound for as many drafts; fewer
/// drafts first, then lower acceptance.
Figure rules_figure(const std::vector<CellResult>& cells) {
  Series bounds{.name = "optimal transport bound for as many i.i.d. drafts", .style = SeriesStyle::levels};
  Series lossless{.name = "lossless", .style = SeriesStyle::points};
  Series lossy{.name = "lossy", .style = SeriesStyle::points};
  Figure figure;
  for (const CellResult* cell : ordered(cells)) {
    const double x = figure.add_category(cell->label);
    if (const Interval* bound = find(cell->simulated, Metric::optimal_transport_bound))
      bounds.add(x, bound->estimate);
    (own<RuleComparison>(*cell).lossless ? lossless : lossy).add(x, first_acceptance(*cell));
  }
  figure.series = {std::move(lossless), std::move(lossy), std::move(bounds)};
  figure.title = "How often each rule accepts a token at the first position";
  figure.y_label = "P(a drafted token is accepted)";
  figure.y_range = AxisRange{0, 1};
  figure.caption =
      "P(a drafted token is accepted at the first position of a round), with intervals, by number of drafts "
      "at that position, then by acceptance. Short lines: the optimal transport bound for as many i.i.d. "
      "drafts, which lossy rules and drafts without replacement may exceed.";
  return figure;
}

std::vector<std::string> test_column(const Result& result) {
  const bool tested = std::any_of(result.cells.begin(), result.cells.end(), [](const CellResult& cell) {
    return cell.own && own<RuleComparison>(cell).equality_test;
  });
  return tested ? std::vector<std::string>{"test of equality"} : std::vector<std::string>{};
}

std::vector<Cell> test_cell(const CellResult& cell) {
  if (!cell.own || !own<RuleComparison>(cell).equality_test) return {Cell{}};
  const EqualityResult& test = *own<RuleComparison>(cell).equality_test;
  return {{fmt::format("{}, adjusted p = {:.2g}, detects TV {:.2g}", test.different ? "different" : "equal",
                       test.adjusted_p, test.detectable_total_variation),
           std::nullopt, test.different ? "bad" : "good"}};
}

std::vector<Figure> figures_of_rules(const Result& result, const Timings& timings) {
  if (!result.shown().figures && !result.shown().sweep && result.cells.size() <= max_categories) {
    Figure figure = rules_figure(result.cells);
    if (!figure.categories.empty()) return {figure};
  }
  return metric_figures(result, timings);
}

std::string rules_headline(const Result& result, const Timings& timings) {
  const CellResult* best = nullptr;
  for (const CellResult* cell : ordered(result.cells)) {
    if (own<RuleComparison>(*cell).lossless &&
        (best == nullptr || first_acceptance(*best).estimate < first_acceptance(*cell).estimate))
      best = cell;
  }
  if (best == nullptr || result.cells.size() == 1) return metric_headline(result, timings);
  const Interval* bound = find(best->simulated, Metric::optimal_transport_bound);
  return fmt::format(
      "Of the lossless rules, {} accepts most at the first position: {}{}.", best->label,
      interval_text(first_acceptance(*best)),
      bound != nullptr ? fmt::format(" (optimal transport bound {})", number_text(bound->estimate)) : "");
}

Presentation rules_presentation() {
  using enum Metric;
  MetricTable metrics{
      .shown = {first_token_acceptance, optimal_transport_bound, tokens_per_target_step, speedup,
                tv_to_target, regret},
      .columns = test_column,
      .cells = test_cell,
      .note =
          "Optimal transport bound: the largest acceptance of a lossless rule with as many i.i.d. drafts, in the contexts where rounds start; lossy rules, siblings drawn without replacement and chosen drafts may exceed it. TV to target: distance of the emitted token's distribution in its context, from the rows of every examined position (at temperature 0 from greedy decoding, else from the rows that are sampled, also for rules that take the argmax). Regret: rejections per examined position, minus the fewest of a lossless rule that verifies one draft token by token; block verification and rules of several drafts can be below 0. Every rule is measured in the contexts that its own rounds visit."};
  return {.metrics = std::move(metrics), .figures = figures_of_rules, .headline = rules_headline};
}

}  // namespace

SectionKind rules_section() {
  return {.key = "rules",
          .type = object<RulesSection>("rules", "The equality test of the experiment rules.",
                                       {field("equality_test", &RulesSection::equality_test, boolean(),
                                              "Beside a proved distance of 0 to the target, run the "
                                              "test of `speclab check` (section \"check\").")})
                      .type};
}

const Experiment& rules_experiment() {
  static const Experiment experiment{
      .name = "rules",
      .sentence =
          "Rules compared: first-token acceptance beside the optimal "
          "transport bound, distance to the target, regret.",
      .sections = {"rules"},
      .reads = {"corpus", "models", "sampling", "rule", "gamma", "cost", "simulation/trials",
                "simulation/length", "simulation/batches", "simulation/prompt", "simulation/prompt_tokens",
                "metrics", "figures", "measured_note"},
      .check = check_rules,
      .prepare = prepare_rules,
      .intervals = [](const Config&) { return independent_numbers; },
      .own_key = "rule_quality",
      .own_result = described<RuleComparison>().type,
      .presentation = presented(rules_presentation())};
  return experiment;
}

}  // namespace speclab
