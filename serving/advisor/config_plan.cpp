#include "serving/advisor/config_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/config/cell_spec.hpp"
#include "experiments/config/cells.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/until.hpp"

namespace speclab {

namespace {

constexpr std::array<std::pair<std::string_view, ChoiceVerdict>, 4> verdicts{
    {{"the same", ChoiceVerdict::same},
     {"optimal within input rounding", ChoiceVerdict::optimal_within_rounding},
     {"ours is faster", ChoiceVerdict::ours_is_faster},
     {"more is always better", ChoiceVerdict::more_is_always_better}}};

}  // namespace

template <>
const Typed<ChoiceVerdict>& described() {
  static const auto type = choice<ChoiceVerdict>(verdicts);
  return type;
}

SPECLAB_RESULT(ComparedChoice, "case", label, alpha, c, gamma, speedup, best_gamma, best_speedup,
               loss_percent, optimal_gammas, verdict);
SPECLAB_RESULT(ChoiceComparison, "comparison", rows, same, within_rounding, largest_loss_percent);

namespace {

constexpr int least_measured_gamma = 8;

/// Returns the config without a sweep over gamma and without parts that only affect what is shown.
Config without_gamma_axis(Config config) {
  if (!config.sweep) return config;
  std::erase_if(*config.sweep, [](const auto& axis) { return axis.first == "/gamma"; });
  if (config.sweep->empty()) config.sweep.reset();
  return config;
}

std::optional<double> stated_alpha(const Config& config) {
  const std::string& experiment = config.experiment->name;
  if (experiment != "predict" && experiment != "iid") return std::nullopt;
  if (!config.alpha) throw ConfigError("/alpha", "missing; a plan needs an acceptance rate");
  return config.alpha;
}

/// Throws ConfigError unless the rule decides position by position. Only then does acceptance at a position,
/// measured with one gamma, hold for another.
void require_positions(const AnyRule& rule) {
  if (rule->decides_by_position()) return;
  throw ConfigError(
      "/rule/kind",
      "a plan needs a rule of one draft that decides position by position, such as \"token\"; compare others with experiment \"rules\"");
}

AcceptanceFile totals_of(const Tally& tally) {
  std::vector<std::uint64_t> accepted;
  std::uint64_t reached = tally.rounds;
  for (std::size_t length = 0; length + 1 < tally.accepted_lengths.size(); ++length) {
    reached -= tally.accepted_lengths[length];
    accepted.push_back(reached);
  }
  // If no round accepted all its drafted tokens, the last position was examined but never accepted.
  const auto gamma = static_cast<std::size_t>(tally.rounds == 0 ? 0 : tally.drafted / tally.rounds);
  if (accepted.size() < gamma) accepted.push_back(0);
  return {{}, count_positions(tally.rounds, accepted)};
}

Acceptance measured(const Job& job, double confidence) {
  Acceptance found;
  found.from = "simulation";
  const ByMetric<Interval> metrics =
      simulated_metrics(job.outcome.batches, {}, confidence, independence_of_rounds(job));
  if (const Interval* alpha = find(metrics, Metric::alpha_examined)) found.alpha = *alpha;
  found.alpha.low = std::clamp(found.alpha.low, 0.0, 1.0);
  found.alpha.high = std::clamp(found.alpha.high, 0.0, 1.0);
  found.log = totals_of(job.outcome.total());
  return found;
}

ComparedChoice compared(const ConfigCase& one) {
  const double alpha = one.acceptance.alpha.estimate;
  const JudgedGamma judged = judge_gamma(one.gamma, alpha, one.c, one.alpha_rounding, one.c_rounding);
  return {.label = one.label,
          .alpha = alpha,
          .c = one.c,
          .gamma = one.gamma,
          .speedup = judged.speedup,
          .best_gamma = judged.best_gamma,
          .best_speedup = judged.best_speedup,
          .loss_percent = 100 * judged.loss,
          .optimal_gammas = judged.optimal,
          .verdict = judged.verdict};
}

}  // namespace

std::optional<std::vector<ConfigCase>> config_cases(const Config& whole, std::optional<double> c,
                                                    double confidence, const Control& control) {
  JobList jobs;
  std::vector<ConfigCase> cases;
  std::vector<const Job*> to_measure;
  const std::vector<CellSpec> cells = expand(without_gamma_axis(whole));
  for (const CellSpec& cell : cells) {
    refuse_until(cell.config, "plan simulates a fixed number of trials");
    if (stated_alpha(cell.config)) continue;
    check_setup(cell.config);
    check_fast_engine(cell.config);
    require_every_gamma(cell.config.rule, "a plan");
    require_positions(make_rule(cell.config.rule, 1).sampled);
  }
  for (const CellSpec& cell : cells) {
    const Config& config = cell.config;
    ConfigCase one{cell.label, {}, c.value_or(config.cost.c), config.gamma};
    if (config.input_rounding) {
      one.alpha_rounding = config.input_rounding->alpha;
      one.c_rounding = c ? 0 : config.input_rounding->c;
    }
    const Job* job = nullptr;
    if (const auto alpha = stated_alpha(config)) {
      one.acceptance = {{*alpha, *alpha, *alpha}, "given"};
    } else {
      // A plan decodes, while for a recording the experiment acceptance would make models that cannot.
      Config decoded = config;
      decoded.experiment = find_experiment("decode");
      const auto setup = jobs.setup(decoded);
      if (setup->exact_alpha) {
        const double exact = std::clamp(*setup->exact_alpha, 0.0, 1.0);
        one.acceptance = {{exact, exact, exact}, "the models, exactly"};
      } else {
        job = &jobs.decode(setup, std::max(one.gamma, least_measured_gamma));
      }
    }
    cases.push_back(one);
    to_measure.push_back(job);
  }
  jobs.run(control);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (to_measure[i] == nullptr) continue;
    if (!to_measure[i]->done || to_measure[i]->outcome.partial) return std::nullopt;
    cases[i].acceptance = measured(*to_measure[i], confidence);
  }
  return cases;
}

ChoiceComparison compare_choices(const std::vector<ConfigCase>& cases) {
  ChoiceComparison comparison;
  for (const ConfigCase& one : cases) {
    const ComparedChoice& row = comparison.rows.emplace_back(compared(one));
    if (row.verdict == ChoiceVerdict::same) {
      ++comparison.same;
    } else if (row.verdict == ChoiceVerdict::optimal_within_rounding) {
      ++comparison.within_rounding;
    } else {
      comparison.largest_loss_percent = std::max(comparison.largest_loss_percent, row.loss_percent);
    }
  }
  return comparison;
}

Listing comparison_text(const ChoiceComparison& comparison) {
  Table table{"comparison",
              "The config's γ beside the best by Theorem 3.8",
              {"case", "α", "c", "its γ", "speedup", "best γ", "speedup", "lost, %", "verdict"}};
  const bool rounded = std::any_of(comparison.rows.begin(), comparison.rows.end(),
                                   [](const ComparedChoice& row) { return row.optimal_gammas.has_value(); });
  if (rounded) table.columns.push_back("best γ of rounded inputs");
  const auto cell = [](std::optional<double> value, int digits) {
    if (!value || !std::isfinite(*value)) return text_cell("–");
    return Cell{fmt::format("{:.{}g}", *value, digits), *value};
  };
  for (const ComparedChoice& row : comparison.rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {text_cell(row.label),
             cell(row.alpha, 3),
             cell(row.c, 3),
             cell(row.gamma, 6),
             cell(row.speedup, 4),
             cell(row.best_gamma, 6),
             cell(row.best_speedup, 4),
             {fmt::format("{:.1f}", row.loss_percent), row.loss_percent},
             text_cell(std::string(verdicts[static_cast<std::size_t>(row.verdict)].first))};
    if (!rounded) continue;
    const auto& range = row.optimal_gammas;
    cells.push_back(text_cell(
        range ? fmt::format("{} to {}", range->low, range->high ? fmt::format("{}", *range->high) : "∞")
              : ""));
  }
  table.note = fmt::format(
      "{} of {} the same, {} optimal within input rounding; the others lose at most {:.1f}%.",
      comparison.same, comparison.rows.size(), comparison.within_rounding, comparison.largest_loss_percent);
  return {{std::move(table)}};
}

std::string comparison_headline(const ChoiceComparison& comparison) {
  return fmt::format(
      "{} of {} choices of γ are the best; {} more are within the rounding of their inputs. The others lose at most {:.2g}% of the speedup.",
      comparison.same, comparison.rows.size(), comparison.within_rounding, comparison.largest_loss_percent);
}

std::vector<Figure> comparison_figures(const ChoiceComparison& comparison) {
  Figure figure{"", "Speedup at the given γ, and at the best", "", "speedup by Theorem 3.8"};
  Series best{.name = "best γ", .style = SeriesStyle::levels};
  Series given{.name = "given γ", .style = SeriesStyle::points};
  for (const ComparedChoice& row : comparison.rows) {
    const double at = figure.add_category(row.label);
    given.add(at, row.speedup);
    if (row.best_speedup) best.add(at, *row.best_speedup);
  }
  figure.add(std::move(best));
  figure.series.push_back(std::move(given));
  return {figure};
}

}  // namespace speclab
