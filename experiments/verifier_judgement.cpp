#include "experiments/verifier_judgement.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include "analysis/statistics/quality_estimates.hpp"
#include "experiments/equality_check.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/interval_json.hpp"
#include "experiments/verifiers.hpp"

namespace speclab {

RuleQualityOptions judging_of(const Setup& setup, const Json& config) {
  const Json& target = config.at("models").at("target");
  const Json& sampling = target.contains("sampling") ? target.at("sampling") : config.at("sampling");
  return {.lossless = lossless(config.at("verifier"), sampling.at("temperature").get<double>()),
          .argmax_target = setup.argmax_target};
}

bool wants_witness(const Setup& setup, const Json& config) {
  return section(config, "verifiers").at("witness").get<bool>() && judging_of(setup, config).lossless;
}

void describe_judgement(Json& out, const Setup& setup, const Outcome& outcome, const Json& config,
                        const CostRatios& cost, double confidence, const Control& control) {
  const int gamma = config.at("gamma").get<int>();
  const bool proved = judging_of(setup, config).lossless;
  out["drafts"] = std::visit([&](const auto& rule) { return first_drafts(rule, gamma); }, setup.rule);
  out["lossless"] = proved;
  Json& simulated = out["simulated"] = Json::object();
  for (const auto& some :
       {estimates(outcome.batches, cost, confidence), quality_estimates(outcome.batches, confidence)}) {
    for (const Estimate& estimate : some) {
      if (estimate.interval) simulated[estimate.name] = interval_json(*estimate.interval);
    }
  }
  if (proved) {
    simulated["tv_to_target"] = Json::array({0.0, 0.0, 0.0});
    out["proved"] = Json::array({"tv_to_target"});
  }
  out["positions"] = positions_json(outcome.batches, gamma, confidence);
  const Tally total = outcome.total();
  out["counts"] =
      Json{{"rounds", total.rounds},     {"drafted", total.drafted},   {"draft_runs", total.draft_runs},
           {"examined", total.examined}, {"accepted", total.accepted}, {"emitted", total.emitted}};
  if (!wants_witness(setup, config)) return;
  // Progress is counted in rounds, which the check has none of.
  const EqualityReport report = check_equality(
      config, [&](std::uint64_t) { return Control{.stop = control.stop, .progress = [](auto) {}}; });
  if (report.partial) {
    out["partial"] = true;
  } else {
    out["witness"] = equality_json(report);
  }
}

Figure rules_figure(const Json& cells) {
  std::vector<const Json*> rules;
  for (const Json& cell : cells) {
    if (cell.contains("simulated") && cell.at("simulated").contains("first_acceptance")) {
      rules.push_back(&cell);
    }
  }
  const auto first = [](const Json* cell) { return cell->at("simulated").at("first_acceptance"); };
  std::stable_sort(rules.begin(), rules.end(), [&](const Json* a, const Json* b) {
    const int drafts_a = a->at("drafts").get<int>();
    const int drafts_b = b->at("drafts").get<int>();
    return drafts_a != drafts_b ? drafts_a < drafts_b : first(a)[0].get<double>() < first(b)[0].get<double>();
  });
  const auto series = [](const char* name, SeriesStyle style) {
    Series made;
    made.name = name;
    made.style = style;
    return made;
  };
  Series optimal_transport_bound = series("optimum for as many i.i.d. drafts", SeriesStyle::levels);
  Series lossless = series("lossless", SeriesStyle::points);
  Series lossy = series("lossy", SeriesStyle::points);
  Figure figure;
  for (const Json* cell : rules) {
    const auto x = static_cast<double>(figure.categories.size());
    figure.categories.push_back(cell->at("label").get<std::string>());
    const Json& bound = cell->at("simulated").value("optimum", Json());
    if (bound.is_array()) {
      optimal_transport_bound.x.push_back(x);
      optimal_transport_bound.y.push_back(bound[0].get<double>());
    }
    Series& points = cell->at("lossless").get<bool>() ? lossless : lossy;
    const Json interval = first(cell);
    points.x.push_back(x);
    points.y.push_back(interval[0].get<double>());
    // Bounds that are infinite (one batch) are null once they have been through a file.
    points.low.push_back(interval[1].is_number() ? interval[1].get<double>() : interval[0].get<double>());
    points.high.push_back(interval[2].is_number() ? interval[2].get<double>() : interval[0].get<double>());
  }
  figure.series = {std::move(lossless), std::move(lossy), std::move(optimal_transport_bound)};
  figure.title = "How often each rule keeps a token at the first position";
  figure.y_label = "P(a drafted token is kept)";
  figure.y_range = AxisRange{0, 1};
  figure.caption =
      "P(a drafted token is kept at the first position of a round), with intervals, by number of drafts at "
      "that position, then by acceptance. Short lines: the optimal transport bound for as many i.i.d. "
      "drafts, "
      "which lossy rules and drafts without replacement may exceed.";
  return figure;
}

std::string judgement_note() {
  return "Optimum: the most that a lossless rule can keep of as many i.i.d. drafts in the contexts where "
         "rounds start, no ceiling for lossy rules, for siblings drawn without replacement and for chosen "
         "drafts. TV to target: of the emitted token's law in its context, computed from the rows of every "
         "examined position. Regret: rejections beyond the least of lossless schemes of one draft, per "
         "examined position. Every rule is judged in the contexts that its own rounds visit.";
}

}  // namespace speclab
