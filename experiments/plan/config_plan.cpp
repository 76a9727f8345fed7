#include "experiments/plan/config_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "analysis/statistics/estimates.hpp"
#include "analysis/statistics/gamma_choice.hpp"
#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "core/rules/position_rules.hpp"
#include "experiments/format/cells.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/presentation.hpp"
#include "experiments/report/page.hpp"
#include "experiments/simulation.hpp"

namespace speclab {

namespace {

constexpr int least_measured_gamma = 8;

/// The config without a sweep over gamma.
Json without_gamma_axis(Json config) {
  if (!config.contains("sweep") || !config.at("sweep").is_object()) return config;
  config["sweep"].erase("/gamma");
  if (config.at("sweep").empty()) config.erase("sweep");
  for (const char* key : {"metrics", "figures"}) config.erase(key);
  return config;
}

std::optional<double> stated_alpha(const Json& config) {
  const auto experiment = config.at("experiment").get<std::string>();
  if (experiment != "predict" && experiment != "iid") return std::nullopt;
  if (!config.contains("alpha")) throw ConfigError("/alpha", "missing; a plan needs an acceptance rate");
  return config.at("alpha").get<double>();
}

/// What one gamma shows of acceptance at a position holds for another only if the rule looks no further.
void require_positions(const AnyRule& rule) {
  if (std::visit([]<class Rule>(const Rule&) { return PositionRule<Rule>; }, rule)) return;
  throw ConfigError(
      "/verifier/kind",
      "a plan needs a verifier of one draft that decides position by position, such as \"token\"; "
      "compare others with experiment \"verifiers\"");
}

AcceptanceFile totals_of(const Tally& tally) {
  std::vector<std::uint64_t> accepted;
  std::uint64_t reached = tally.rounds;
  for (std::size_t length = 0; length + 1 < tally.accepted_lengths.size(); ++length) {
    reached -= tally.accepted_lengths[length];
    accepted.push_back(reached);
  }
  // One position more was examined, in vain, when no round kept all that it drafted.
  const auto gamma = static_cast<std::size_t>(tally.rounds == 0 ? 0 : tally.drafted / tally.rounds);
  if (accepted.size() < gamma) accepted.push_back(0);
  return {{}, count_positions(tally.rounds, accepted)};
}

Acceptance measured(const Job& job, double confidence) {
  Acceptance found;
  found.from = "simulation";
  for (const Estimate& estimate : estimates(job.outcome.batches, {}, confidence)) {
    if (estimate.name == "alpha_examined" && estimate.interval) found.alpha = *estimate.interval;
  }
  found.alpha.low = std::clamp(found.alpha.low, 0.0, 1.0);
  found.alpha.high = std::clamp(found.alpha.high, 0.0, 1.0);
  found.log = totals_of(job.outcome.total());
  return found;
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

std::vector<ConfigCase> config_cases(const Json& config, std::optional<double> c, double confidence,
                                     const Control& control, bool& partial) {
  const Json input = without_gamma_axis(config);
  JobList jobs;
  std::vector<ConfigCase> cases;
  std::vector<const Job*> to_measure;
  for (const CellSpec& cell : expand(resolve(input), input)) {
    ConfigCase one{cell.label,
                   {},
                   c ? *c : cell.config.at("cost").at("c").get<double>(),
                   cell.config.at("gamma").get<int>()};
    if (cell.config.contains("input_rounding")) {
      one.alpha_rounding = cell.config.at("input_rounding").at("alpha").get<double>();
      one.c_rounding = c ? 0 : cell.config.at("input_rounding").at("c").get<double>();
    }
    const Job* job = nullptr;
    if (const auto alpha = stated_alpha(cell.config)) {
      one.acceptance = {{*alpha, *alpha, *alpha}, "given"};
    } else {
      const auto setup = jobs.setup(cell.config);
      require_positions(setup->rule);
      if (setup->exact_alpha) {
        const double exact = std::clamp(*setup->exact_alpha, 0.0, 1.0);
        one.acceptance = {{exact, exact, exact}, "the models, exactly"};
      } else {
        job = &jobs.add(setup, std::max(one.gamma, least_measured_gamma), false);
      }
    }
    cases.push_back(one);
    to_measure.push_back(job);
  }
  jobs.run(control);
  partial = false;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (to_measure[i] == nullptr) continue;
    if (!to_measure[i]->done || to_measure[i]->outcome.partial) {
      partial = true;
      return {};
    }
    cases[i].acceptance = measured(*to_measure[i], confidence);
  }
  return cases;
}

Json compare_choices(const std::vector<ConfigCase>& cases) {
  Json rows = Json::array();
  int same = 0;
  int rounded = 0;
  double largest_loss = 0;
  for (const ConfigCase& one : cases) {
    const double alpha = one.acceptance.alpha.estimate;
    const OptimalGamma best = optimal_gamma(alpha, one.c);
    const double own = speedup(alpha, one.gamma, one.c);
    // Without a best speed (free drafts that are never rejected) every choice loses everything.
    const double loss = best.speedup ? 100 * (1 - own / *best.speedup) : 100;
    const bool has_rounding = one.alpha_rounding > 0 || one.c_rounding > 0;
    const GammaRange range = optimal_gamma_range(alpha - one.alpha_rounding, alpha + one.alpha_rounding,
                                                 one.c - one.c_rounding, one.c + one.c_rounding);
    std::string verdict;
    if (!best.gamma) {
      verdict = "more is always better";
    } else if (best.gamma == one.gamma) {
      verdict = "the same";
      ++same;
    } else if (has_rounding && range.holds(one.gamma)) {
      verdict = "optimal within input rounding";
      ++rounded;
    } else {
      verdict = "ours is faster";
      largest_loss = std::max(largest_loss, loss);
    }
    rows.push_back(
        {{"label", one.label},
         {"alpha", alpha},
         {"c", one.c},
         {"gamma", one.gamma},
         {"speed", own},
         {"best_gamma", best.gamma ? Json(*best.gamma) : Json()},
         {"best_speed", optional_json(best.speedup)},
         {"loss_percent", loss},
         {"optimal_gammas",
          has_rounding ? Json::array({range.low, range.high ? Json(*range.high) : Json()}) : Json()},
         {"verdict", verdict}});
  }
  return {
      {"rows", rows}, {"same", same}, {"within_rounding", rounded}, {"largest_loss_percent", largest_loss}};
}

std::string comparison_text(const Json& comparison) {
  Table table{"comparison",
              "The config's γ beside the best by Theorem 3.8",
              {"case", "α", "c", "its γ", "speed", "best γ", "speed", "lost, %", "verdict"},
              {},
              ""};
  const Json& rows = comparison.at("rows");
  const bool rounded = std::any_of(rows.begin(), rows.end(),
                                   [](const Json& row) { return !row.at("optimal_gammas").is_null(); });
  if (rounded) table.columns.push_back("best γ of rounded inputs");
  const auto cell = [](const Json& value, int digits) -> Cell {
    if (value.is_null()) return {"–", {}, ""};
    return {fmt::format("{:.{}g}", value.get<double>(), digits), value.get<double>(), ""};
  };
  for (const Json& row : comparison.at("rows")) {
    const Json& range = row.at("optimal_gammas");
    table.rows.push_back({{row.at("label").get<std::string>(), {}, ""},
                          cell(row.at("alpha"), 3),
                          cell(row.at("c"), 3),
                          cell(row.at("gamma"), 6),
                          cell(row.at("speed"), 4),
                          cell(row.at("best_gamma"), 6),
                          cell(row.at("best_speed"), 4),
                          {fmt::format("{:.1f}", row.at("loss_percent").get<double>()),
                           row.at("loss_percent").get<double>(), ""},
                          {row.at("verdict").get<std::string>(), {}, ""}});
    if (rounded) {
      table.rows.back().push_back({range.is_null() ? ""
                                                   : fmt::format("{} to {}", range[0].dump(),
                                                                 range[1].is_null() ? "∞" : range[1].dump()),
                                   {},
                                   ""});
    }
  }
  return terminal(table) +
         fmt::format(
             "{} of {} the same, {} optimal within input rounding; the others lose at most {:.1f}%.\n",
             comparison.at("same").get<int>(), comparison.at("rows").size(),
             comparison.at("within_rounding").get<int>(),
             comparison.at("largest_loss_percent").get<double>());
}

}  // namespace speclab
