// The experiment "optimal_gamma": simulates every gamma and compares the best one with the formula's choice.
#include "analysis/theory/optimal_gamma.hpp"

#include <algorithm>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/config/config.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/studies/decode/formulas.hpp"

namespace speclab {

namespace {

struct SearchResult {
  std::vector<Interval> speedup_by_gamma;  ///< for gamma = 0 (without speculation), 1, ...
  Interval gap{};       ///< speedup at the best simulated gamma minus that at the formula's, paired by batch
  bool capped = false;  ///< the formula's gamma exceeds the largest simulated one
};

/// Returns the range of speedups of rounds of gamma drafts: from none accepted to all.
Support possible_speedups(int gamma, double c) {
  return {1 / (1 + c * gamma), (1 + gamma) / (1 + c * gamma)};
}

/// Fills in the result from the jobs of gamma = 1, 2, ...
void describe(const CellSpec& cell, double alpha, const std::vector<Job*>& jobs, CellResult& result,
              double confidence) {
  const Config& config = cell.config;
  const double c = config.cost.c;
  add_formulas(result, cell, {alpha, config.gamma, config.cost}, AlphaSource::exact);
  result.exact_alpha = alpha;

  SearchResult own;
  // gamma = 0 decodes without speculation; its speedup is 1 by definition.
  const std::vector<double> ones(jobs.front()->outcome.batches.size(), 1.0);
  std::vector<std::vector<double>> by_gamma{ones};
  own.speedup_by_gamma.push_back({1.0, 1.0, 1.0});
  const auto mean = [&](const std::vector<double>& values, const Support& support, double level) {
    return *bounded_ratio_interval(values, ones, support, level);
  };
  for (const Job* job : jobs) {
    std::vector<double>& speedups = by_gamma.emplace_back();
    for (const Tally& batch : job->outcome.batches) speedups.push_back(batch_speedup(batch, c));
    own.speedup_by_gamma.push_back(mean(speedups, possible_speedups(job->gamma, c), confidence));
  }
  const auto best_at = std::ranges::max_element(own.speedup_by_gamma, {}, &Interval::estimate);
  const auto best = static_cast<std::size_t>(best_at - own.speedup_by_gamma.begin());
  const OptimalGamma theory = optimal_gamma(alpha, c);
  const std::size_t largest = jobs.size();
  own.capped = !theory.gamma || static_cast<std::size_t>(*theory.gamma) > largest;
  const std::size_t theory_gamma = own.capped ? largest : static_cast<std::size_t>(*theory.gamma);
  // All gammas share a batch's random numbers, so differences are taken batch by batch.
  const auto differences_from = [&](std::size_t gamma) {
    std::vector<double> differences;
    for (std::size_t batch = 0; batch < ones.size(); ++batch)
      differences.push_back(by_gamma[best][batch] - by_gamma[gamma][batch]);
    return differences;
  };
  const auto gap = [&](std::size_t gamma, double level) {
    const Support of_best = possible_speedups(static_cast<int>(best), c);
    const Support of_other = possible_speedups(static_cast<int>(gamma), c);
    return mean(differences_from(gamma), {of_best.low - of_other.high, of_best.high - of_other.low}, level);
  };
  own.gap = gap(theory_gamma, confidence);

  // The interval holds every gamma whose difference from the best may be 0, by intervals that hold jointly.
  const double jointly = 1 - (1 - confidence) / static_cast<double>(largest);
  Interval chosen{static_cast<double>(best), static_cast<double>(best), static_cast<double>(best)};
  for (std::size_t gamma = 0; gamma <= largest; ++gamma) {
    // A difference that is the same in every batch has no interval.
    const auto [least, most] = std::ranges::minmax(differences_from(gamma));
    if (least == most && least > 0) continue;
    if (const Interval difference = gap(gamma, jointly); difference.judges() && !difference.holds(0))
      continue;
    chosen.low = std::min(chosen.low, static_cast<double>(gamma));
    chosen.high = std::max(chosen.high, static_cast<double>(gamma));
  }
  result.simulated = {{Metric::optimal_gamma, chosen}, {Metric::best_speedup, *best_at}};
  // The formula's choice was not simulated, so nothing can be said about it.
  if (!own.capped && (best == theory_gamma || own.gap.judges()))
    result.agreement = {
        {metric_name(Metric::optimal_gamma), chosen.holds(static_cast<double>(theory_gamma))}};
  result.own = std::move(own);
}

[[noreturn]] void refuse_without_alpha() {
  throw ConfigError("/models",
                    "optimal_gamma compares with a formula, which needs models of one exact alpha");
}

void check_search(const Config& cell) {
  check_setup(cell);
  check_fast_engine(cell);
  require_every_gamma(cell.rule, "optimal_gamma");
  for (const bool draft : {false, true}) {
    if (facts_of_model(cell, draft).stored_rows == false) refuse_without_alpha();
  }
}

Work prepare_search(const CellSpec& cell, JobList& jobs) {
  const auto setup = jobs.setup(cell.config);
  if (!setup->exact_alpha) refuse_without_alpha();
  Work work;
  const int most = cell.config.section<SearchSection>().max_gamma;
  for (int gamma = 1; gamma <= most; ++gamma) work.jobs.push_back(&jobs.decode(setup, gamma));
  work.finish = [&cell, alpha = *setup->exact_alpha, jobs = work.jobs](CellResult& result,
                                                                       const RunContext& context) {
    describe(cell, alpha, jobs, result, context.confidence);
  };
  return work;
}

std::string search_remark(const CellResult& cell) {
  return cell.own && own<SearchResult>(cell).capped ? "The formula's γ is beyond the largest simulated" : "";
}

}  // namespace

SPECLAB_RESULT(SearchResult, "search", speedup_by_gamma, gap, capped);

SectionKind search_section() {
  return {
      "search",
      object<SearchSection>(
          "search", "The search for the best gamma, by the experiment optimal_gamma and by `speclab exact`.",
          {integer_field("max_gamma", &SearchSection::max_gamma, 1, 64, "Largest gamma tried.")})
          .type,
      true};
}

const Experiment& optimal_gamma_experiment() {
  using enum Metric;
  static const Experiment experiment{
      .name = "optimal_gamma",
      .sentence = "Simulates every γ up to \"search/max_gamma\" and compares the best with the formula's.",
      .sections = {"search"},
      // Models of one exact alpha have stored rows, and so neither a corpus nor words.
      .reads = {"models", "sampling", "rule", "engine", "gamma", "cost", "simulation/trials",
                "simulation/length", "simulation/batches", "simulation/prompt", "metrics", "figures",
                "input_rounding", "measured_note"},
      .check = check_search,
      .prepare = prepare_search,
      .recordings = Recordings::decoding,
      .judges_printed = true,
      // Cells with one set-up share the jobs of every γ, whatever their own γ.
      .not_of_jobs = {"cost", "input_rounding", "gamma", "search"},
      .own_key = "search",
      .own_result = described<SearchResult>().type,
      .presentation = presented(
          {.metrics = {
               .shown = {optimal_gamma, best_speedup}, .figure = optimal_gamma, .remark = search_remark}})};
  return experiment;
}

}  // namespace speclab
