#include "experiments/plan/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <set>
#include <span>

#include "analysis/statistics/gamma_choice.hpp"
#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/interval_json.hpp"
#include "experiments/plan/device_plan.hpp"
#include "experiments/plan/server_settings.hpp"

namespace speclab {

namespace {

/// A log's departure from i.i.d. is said at this level: one false alarm in a thousand logs, of both tests.
constexpr double fit_level = 0.001;
constexpr double little_loss = 0.01;
/// Below this gain a policy that changes gamma is not worth its trouble.
constexpr double adaptive_threshold = 0.05;
constexpr int stretches = 20;
/// Larger batches want shorter drafts, so that the search over batches can stop here.
constexpr std::size_t longest_in_batches = 32;

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::size_t at(int gamma) { return static_cast<std::size_t>(gamma); }

bool constant(const CostPair& costs) {
  return std::holds_alternative<ConstantCost>(costs.target) &&
         std::holds_alternative<ConstantCost>(costs.draft);
}

/// Speeds by gamma with their interval.
struct SpeedCurve {
  std::vector<double> tokens;
  std::vector<double> estimate;
  std::vector<double> low;
  std::vector<double> high;
  const char* by;  ///< "i.i.d." or "positions"
};

/// Speed rises with alpha at every gamma, so an interval of alpha is one of the speed.
SpeedCurve iid_curve(const Drafter& drafter, const PlanSettings& settings) {
  const Interval& alpha = drafter.acceptance.alpha;
  const auto by_alpha = [&](double value) {
    return speedups(iid_tokens(value, settings.max_gamma), drafter.costs, settings.at);
  };
  return {iid_tokens(alpha.estimate, settings.max_gamma), by_alpha(alpha.estimate), by_alpha(alpha.low),
          by_alpha(alpha.high), "i.i.d."};
}

/// As far as the log's rounds reached.
SpeedCurve position_curve(const Drafter& drafter, const PlanSettings& settings) {
  PositionalTokens found = positional_tokens(drafter.acceptance.log->counts);
  found.tokens.resize(std::min(found.tokens.size(), at(settings.max_gamma) + 1));
  SpeedCurve curve{found.tokens, speedups(found.tokens, drafter.costs, settings.at), {}, {}, "positions"};
  const boost::math::normal_distribution<double> normal;
  const double quantile =
      boost::math::quantile(boost::math::complement(normal, (1 - settings.confidence) / 2));
  for (std::size_t gamma = 0; gamma < found.tokens.size(); ++gamma) {
    const double width = quantile * found.deviation[gamma] * curve.estimate[gamma] / found.tokens[gamma];
    curve.low.push_back(curve.estimate[gamma] - width);
    curve.high.push_back(curve.estimate[gamma] + width);
  }
  return curve;
}

struct Choice {
  int gamma = 0;
  std::string reason;
};

/// The smallest maximiser. Where the speed grows on and on, the first gamma that comes within 1% of its limit
/// (or of the largest gamma considered).
Choice best_of(const SpeedCurve& curve, const Drafter& drafter, const PlanSettings& settings) {
  const auto top = std::max_element(curve.estimate.begin(), curve.estimate.end());
  const int last = static_cast<int>(curve.estimate.size()) - 1;
  const int gamma = static_cast<int>(top - curve.estimate.begin());
  if (curve.by == std::string("positions")) {
    return {gamma, gamma == last && gamma > 0
                       ? "The longest round seen: draft more for a while, and plan again."
                       : "The largest speed by acceptance as it was measured at each position."};
  }
  if (constant(drafter.costs)) {
    const OptimalGamma closed =
        optimal_gamma(drafter.acceptance.alpha.estimate, draft_cost(drafter.costs, settings.at));
    if (closed.gamma && *closed.gamma <= last) return {*closed.gamma, closed.reason};
    if (!closed.gamma && closed.speedup) {
      for (int enough = 1; enough <= last; ++enough) {
        if (curve.estimate[at(enough)] >= (1 - little_loss) * *closed.speedup) {
          return {enough, closed.reason + " This one comes within 1% of it."};
        }
      }
    }
    if (closed.gamma) {
      return {gamma, fmt::format("The best, {}, lies beyond the largest considered, {} (--max-gamma).",
                                 *closed.gamma, settings.max_gamma)};
    }
    return {gamma, closed.reason + fmt::format(" This is the largest considered, {}.", settings.max_gamma)};
  }
  if (gamma == 0) return {0, "No gamma is faster than plain decoding here: do not speculate."};
  return {gamma, gamma == last
                     ? fmt::format("The largest considered, {}.", settings.max_gamma)
                     : std::string("The largest speed with the cost of verifying gamma + 1 positions.")};
}

/// Speed of an oracle that knows how many tokens would be accepted, and drafts just these, at most m; for the
/// best m. With free verification and i.i.d. acceptance its limit is 1 / (1 - alpha + c alpha).
double oracle_speed(const SpeedCurve& curve, const Drafter& drafter, const PlanSettings& settings) {
  const double c = draft_cost(drafter.costs, settings.at);
  double best = 1;
  double verified = 0;  // sum over n < m of P(exactly n accepted) verify_cost(n)
  for (std::size_t m = 1; m < curve.tokens.size(); ++m) {
    // P(at least n accepted) is tokens[n] - tokens[n - 1].
    const double before = m == 1 ? 1 : curve.tokens[m - 1] - curve.tokens[m - 2];
    const double reached = curve.tokens[m] - curve.tokens[m - 1];
    verified += (before - reached) * verify_cost(drafter.costs, static_cast<int>(m) - 1, settings.at);
    const double cost = c * (curve.tokens[m] - 1) + verified +
                        reached * verify_cost(drafter.costs, static_cast<int>(m), settings.at);
    best = std::max(best, curve.tokens[m] / cost);
  }
  return best;
}

Json gamma_rows(const SpeedCurve& curve, int best, const Drafter& drafter, const PlanSettings& settings) {
  const int last = static_cast<int>(curve.estimate.size()) - 1;
  std::set<int> shown{best - 1, best, best + 1};
  for (const int gamma : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32}) {
    if (gamma <= std::max(8, 2 * best)) shown.insert(gamma);
  }
  Json rows = Json::array();
  for (const int gamma : shown) {
    if (gamma < 1 || gamma > last) continue;
    rows.push_back({{"gamma", gamma},
                    {"tokens", curve.tokens[at(gamma)]},
                    {"speed", curve.estimate[at(gamma)]},
                    {"low", curve.low[at(gamma)]},
                    {"high", curve.high[at(gamma)]},
                    {"verify_cost", verify_cost(drafter.costs, gamma, settings.at)}});
  }
  return rows;
}

/// The tests of a log.
struct LogFindings {
  LogTest positions;
  LogTest neighbours;

  bool positions_differ() const { return positions.p < fit_level / 2; }
  bool rounds_depend() const { return neighbours.p < fit_level / 2; }
};

LogFindings test_log(const AcceptanceFile& log) {
  return {position_test(log.counts), neighbour_test(log.rounds)};
}

Json test_json(const LogTest& test) {
  return {{"chi_squared", test.statistic}, {"degrees", test.degrees}, {"p", test.p}};
}

Json log_json(const AcceptanceFile& log, const LogFindings& findings, double confidence) {
  Json positions = Json::array();
  double reached = 1;
  for (std::size_t i = 0; i < log.counts.examined.size() && log.counts.examined[i] > 0; ++i) {
    const Interval conditional =
        *binomial_interval(log.counts.accepted[i], log.counts.examined[i], confidence);
    reached *= conditional.estimate;
    positions.push_back({{"position", i + 1},
                         {"examined", log.counts.examined[i]},
                         {"accepted", log.counts.accepted[i]},
                         {"conditional", interval_json(conditional)},
                         {"unconditional", reached}});
  }
  const auto by_stretches = stretch_interval(log.rounds, stretches, confidence);
  return {{"rounds", log.counts.rounds},
          {"examined", log.counts.total_examined()},
          {"accepted", log.counts.total_accepted()},
          {"alpha_by_stretches", by_stretches ? interval_json(*by_stretches) : Json()},
          {"positions_alike", test_json(findings.positions)},
          {"rounds_independent", log.rounds.empty() ? Json() : test_json(findings.neighbours)},
          {"iid_rejected", findings.positions_differ() || findings.rounds_depend()},
          {"positions", positions}};
}

/// What an oracle could gain, in words. By positions it is an oracle that never drafts more than the log did.
std::string oracle_sentence(double gain, bool by_positions) {
  const std::string oracle = fmt::format(
      "an oracle that drafts exactly what will be accepted{}, and pays for it, would be {:.{}f}% "
      "faster",
      by_positions ? " (as far as the rounds seen go)" : "", 100 * gain, gain < adaptive_threshold ? 1 : 0);
  if (gain < adaptive_threshold) return fmt::format("Keep gamma fixed: even {}.", oracle);
  return fmt::format("At most, {}. {}", oracle,
                     by_positions
                         ? "A policy that tells hard rounds from easy ones can have a part of it."
                         : "A policy gains only as far as it tells tokens apart, such as by the draft's "
                           "confidence; where acceptance is i.i.d. it gains nothing.");
}

Json advice(double gain, int gamma, bool by_positions, const std::optional<LogFindings>& findings) {
  Json sentences = Json::array();
  sentences.push_back(gamma == 0 ? "Decode plainly: drafting costs more than it saves."
                                 : oracle_sentence(gain, by_positions));
  if (by_positions) {
    sentences.push_back(
        "Acceptance differs between positions (or between rounds, of which the easy ones get far): the "
        "i.i.d. "
        "formula is off, and gamma is chosen by acceptance as measured at each position.");
  }
  if (findings && findings->rounds_depend()) {
    sentences.push_back(
        "First tokens are accepted more (or less) often after an accepted one: intervals that take rounds as "
        "independent are too narrow; use that of stretches.");
  }
  return sentences;
}

Json batch_rows(const std::vector<BatchRange>& batches) {
  Json rows = Json::array();
  for (const BatchRange& range : batches) {
    rows.push_back({{"first", range.first},
                    {"last", range.last},
                    {"gamma", range.gamma},
                    {"least_speed", range.least_speedup}});
  }
  return rows;
}

Json speed_json(const SpeedCurve& curve, int gamma) {
  return Json::array({curve.estimate[at(gamma)], curve.low[at(gamma)], curve.high[at(gamma)]});
}

Json best_json(const SpeedCurve& curve, const Choice& choice) {
  const GammaRange near = near_best(curve.estimate, little_loss);
  return {{"gamma", choice.gamma},
          {"speed", speed_json(curve, choice.gamma)},
          {"tokens_per_round", curve.tokens[at(choice.gamma)]},
          {"by", curve.by},
          {"reason", choice.reason},
          {"within_1_percent", Json::array({near.low, *near.high})}};
}

Json settings_json(const Drafter& drafter, const PlanSettings& settings, int gamma,
                   const std::vector<BatchRange>& batches) {
  Json rows = Json::array();
  if (gamma == 0) return rows;
  ServedPlan served;
  if (!settings.target.empty()) served.target = settings.target;
  if (!drafter.name.empty()) served.draft = drafter.name;
  served.by_lookup = settings.by_lookup;
  served.gamma = gamma;
  served.batches = batches;
  for (const ServerSetting& setting : server_settings(served)) {
    rows.push_back({{"server", setting.server}, {"checked", setting.checked}, {"lines", setting.lines}});
  }
  return rows;
}

}  // namespace

Json make_plan(const Drafter& drafter, const PlanSettings& settings) {
  const Acceptance& known = drafter.acceptance;
  const bool fixed_costs = constant(drafter.costs);
  const double c = draft_cost(drafter.costs, settings.at);
  std::optional<LogFindings> findings;
  if (known.log) findings = test_log(*known.log);
  const SpeedCurve iid = iid_curve(drafter, settings);
  const bool by_positions = findings && findings->positions_differ();
  const SpeedCurve curve = by_positions ? position_curve(drafter, settings) : iid;
  const Choice choice = best_of(curve, drafter, settings);
  const double best = curve.estimate[at(choice.gamma)];

  // Closed forms of alpha are those of i.i.d. acceptance, and of free verification.
  const bool closed = fixed_costs && !by_positions;
  const auto charged = speedup_bound_drafting_paid(known.alpha.estimate, c);
  // An oracle may also draft nothing.
  const double oracle = closed && charged ? std::max(*charged, 1.0) : oracle_speed(curve, drafter, settings);
  const double gain = std::max(oracle / best - 1, 0.0);

  const int most_batch = largest_planned_batch(drafter, settings);
  const auto limit_of = [&](const SpeedCurve& used, int gamma) -> Json {
    if (fixed_costs || gamma == 0) return Json();
    return batch_limit(used.tokens[at(gamma)], gamma, drafter.costs, settings.at.context, most_batch);
  };
  std::vector<BatchRange> batches;
  if (!fixed_costs) {
    const auto considered = std::min(curve.tokens.size(), std::max(at(choice.gamma), longest_in_batches) + 1);
    batches = gamma_by_batch(std::span(curve.tokens.data(), considered), drafter.costs, settings.at.context,
                             most_batch);
  }

  Json plan;
  plan["drafter"] = drafter.name;
  plan["target"] = settings.target;
  plan["alpha"] = Json{{"estimate", known.alpha.estimate},
                       {"low", known.alpha.low},
                       {"high", known.alpha.high},
                       {"from", known.from},
                       {"confidence", settings.confidence}};
  plan["costs"] = Json{
      {"c", c}, {"from", drafter.cost_from}, {"batch", settings.at.batch}, {"context", settings.at.context}};
  plan["best"] = best_json(curve, choice);
  plan["asked"] = Json();
  if (settings.asked_gamma) {
    // A log says nothing of positions that it never reached; there the formula stands in.
    const int gamma = *settings.asked_gamma;
    const SpeedCurve& used = at(gamma) < curve.estimate.size() ? curve : iid;
    plan["asked"] = Json{{"gamma", gamma},
                         {"speed", speed_json(used, gamma)},
                         {"by", used.by},
                         {"loss_percent", 100 * (1 - used.estimate[at(gamma)] / best)},
                         {"batch_limit", limit_of(used, gamma)}};
  }
  plan["gammas"] = gamma_rows(curve, choice.gamma, drafter, settings);
  plan["bounds"] =
      Json{{"guaranteed", closed ? optional_json(guaranteed_speedup(known.alpha.estimate, c)) : Json()},
           {"oracle_uncharged",
            by_positions ? Json() : optional_json(speedup_bound_drafting_free(known.alpha.estimate))},
           {"oracle_charged", oracle},
           {"adaptive_gain", gain}};
  plan["advice"] = advice(gain, choice.gamma, by_positions, findings);
  plan["log"] = Json();
  if (known.log) {
    plan["log"] = log_json(*known.log, *findings, settings.confidence);
    const SpeedCurve other = by_positions ? iid : position_curve(drafter, settings);
    const int gamma = best_of(other, drafter, settings).gamma;
    plan["log"]["other_choice"] =
        Json{{"by", other.by}, {"gamma", gamma}, {"speed", speed_json(other, gamma)}};
  }
  plan["batches"] = fixed_costs ? Json() : batch_rows(batches);
  plan["batch_limit"] = limit_of(curve, choice.gamma);
  plan["device"] = device_plan(drafter, settings, choice.gamma, curve.tokens[at(choice.gamma)]);
  plan["settings"] = settings_json(drafter, settings, choice.gamma, batches);
  return plan;
}

Json rank_drafters(const std::vector<Drafter>& drafters, const PlanSettings& settings) {
  std::vector<Json> plans(drafters.size());
  std::transform(drafters.begin(), drafters.end(), plans.begin(),
                 [&](const Drafter& drafter) { return make_plan(drafter, settings); });
  std::stable_sort(plans.begin(), plans.end(), [](const Json& a, const Json& b) {
    return a.at("best").at("speed")[0].get<double>() > b.at("best").at("speed")[0].get<double>();
  });
  return {{"ranking", plans}};
}

}  // namespace speclab
