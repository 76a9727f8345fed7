#include "experiments/compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

#include "analysis/statistics/estimates.hpp"
#include "analysis/statistics/intervals.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/interval_json.hpp"
#include "sim/parallel.hpp"
#include "sim/sequences.hpp"

namespace speclab {

namespace {

std::size_t index_of(const Json& specs, const std::string& name) {
  const auto found =
      std::find_if(specs.begin(), specs.end(), [&](const Json& spec) { return name_of(spec) == name; });
  return static_cast<std::size_t>(found - specs.begin());
}

/// The fixed gammas, then the policies.
Json all_policies(const Json& settings) {
  Json all = Json::array();
  for (const Json& gamma : settings.at("gammas")) all.push_back({{"kind", "fixed"}, {"gamma", gamma}});
  for (const Json& policy : settings.at("policies")) all.push_back(policy);
  return all;
}

/// `run(target_of)` with the target of each sequence: a model, or the sequence's own text.
template <class Run>
Outcome on_target(const Task& task, const Run& run) {
  if (task.target) return run([&](std::size_t) -> const Model& { return *task.target; });
  return run([&](std::size_t index) { return TextTarget{task.documents[index], &task.rows}; });
}

Outcome decode(const Comparison& comparison, const AnyPolicy& policy, const Control& control) {
  const Task& task = *comparison.task;
  return std::visit(
      [&]<class Rule>(const Rule& rule) -> Outcome {
        if constexpr (ChainRule<Rule>) {
          return on_target(task, [&](const auto& target_of) {
            return decode_sequences(task.plan, target_of, *comparison.contestant.drafter, policy, rule,
                                    control);
          });
        } else {
          return {};  // refused by make_contestant
        }
      },
      comparison.contestant.rule);
}

Outcome measure(const Comparison& comparison, const Control& control) {
  const Task& task = *comparison.task;
  return on_target(task, [&](const auto& target_of) {
    return measure_first_overlap(task.plan, target_of, *comparison.contestant.drafter, TokenRule{}, control);
  });
}

/// One number of every batch.
std::vector<double> each(const Outcome& outcome, const std::function<double(const Tally&)>& number) {
  std::vector<double> all;
  for (const Tally& batch : outcome.batches) all.push_back(number(batch));
  return all;
}

double real(std::uint64_t count) { return static_cast<double>(count); }

/// A policy's run by what is compared: tokens and time of each batch.
struct Speeds {
  std::vector<double> tokens;
  std::vector<double> time;
  BatchRatio batches() const { return {tokens, time}; }
};

void put(Json& out, const char* name, const std::optional<Interval>& interval) {
  if (interval) out[name] = interval_json(*interval);
}

/// One of analysis's estimates. That of speed knows one cost alone, and is not asked for.
std::optional<Interval> estimate_of(const Outcome& outcome, const std::string& name, double confidence) {
  for (const Estimate& estimate : estimates(outcome.batches, {}, confidence)) {
    if (estimate.name == name) return estimate.interval;
  }
  return std::nullopt;
}

Json numbers(const Outcome& outcome, const Speeds& speeds, double confidence) {
  Json out = Json::object();
  for (const char* name : {"alpha_examined", "alpha_drafted"}) {
    put(out, name, estimate_of(outcome, name, confidence));
  }
  put(out, "drafted_per_round",
      ratio_interval(each(outcome, [](const Tally& t) { return real(t.drafted); }),
                     each(outcome, [](const Tally& t) { return real(t.rounds); }), confidence));
  put(out, "tokens_per_round", estimate_of(outcome, "tokens_per_round", confidence));
  put(out, "speed", ratio_interval(speeds.tokens, speeds.time, confidence));
  return out;
}

}  // namespace

std::vector<CellSpec> comparison_cells(const std::vector<CellSpec>& specs) {
  std::vector<CellSpec> cells;
  for (const CellSpec& spec : specs) {
    if (!spec.config.contains("compare")) {
      throw ConfigError("/compare", "missing; compare needs \"tasks\" and \"drafters\"");
    }
    const Json& compare = spec.config.at("compare");
    for (const char* list : {"tasks", "drafters", "policies"}) {
      check_distinct_names(compare.at(list), std::string("/compare/") + list);
    }
    for (const Json& task : compare.at("tasks")) {
      for (const Json& drafter : compare.at("drafters")) {
        CellSpec cell = spec;
        cell.set["task"] = name_of(task);
        cell.set["drafter"] = name_of(drafter);
        cell.label = fmt::format("{}{}{}: {}", spec.label, spec.label.empty() ? "" : ", ", name_of(task),
                                 name_of(drafter));
        cells.push_back(std::move(cell));
      }
    }
  }
  return cells;
}

std::uint64_t Comparison::workload() const {
  if (!contestant.drafter) return 0;
  return task->plan.tokens() * (1 + settings.at("gammas").size() + settings.at("policies").size());
}

int comparison_intervals(const Json& config) {
  // alpha three times, tokens and speed; then speed and gain of each policy.
  return 5 + 2 * static_cast<int>(config.at("compare").at("policies").size());
}

Comparison ComparisonMaker::make(const CellSpec& spec) {
  const Json& compare = spec.config.at("compare");
  const std::size_t task_index = index_of(compare.at("tasks"), spec.set.at("task"));
  const std::size_t drafter_index = index_of(compare.at("drafters"), spec.set.at("drafter"));
  const Json& task_spec = compare.at("tasks")[task_index];
  auto& task = tasks_[task_spec.dump() + spec.config.at("sampling").dump() + spec.config.at("seed").dump() +
                      compare.at("batches").dump()];
  if (!task) {
    task = make_task(task_spec, fmt::format("/compare/tasks/{}", task_index), spec.config, registry_);
  }
  Contestant contestant =
      make_contestant(compare.at("drafters")[drafter_index],
                      fmt::format("/compare/drafters/{}", drafter_index), spec.config, *task, registry_);
  return {task, std::move(contestant), compare};
}

void describe_comparison(Json& out, const Comparison& comparison, double confidence, const Control& control) {
  const Contestant& contestant = comparison.contestant;
  if (!contestant.drafter) {
    out["obstacle"] = contestant.unsupported_reason;
    return;
  }
  const Json specs = all_policies(comparison.settings);
  std::vector<std::optional<Outcome>> outcomes(specs.size());
  Outcome overlaps;
  for_each_index(specs.size() + 1, [&](std::size_t i) {
    if (i == specs.size()) {
      overlaps = measure(comparison, control);
    } else if (!(specs[i].at("kind") == "oracle" && contestant.drafter->hierarchical())) {
      outcomes[i] = decode(comparison, make_policy(specs[i], contestant), control);
    }
  });
  if (overlaps.partial ||
      std::any_of(outcomes.begin(), outcomes.end(), [](const auto& o) { return o && o->partial; })) {
    out["partial"] = true;
    return;
  }

  std::vector<Speeds> speeds;
  for (const auto& outcome : outcomes) {
    Speeds& added = speeds.emplace_back();
    if (!outcome) continue;
    added.tokens = each(*outcome, [](const Tally& t) { return real(t.emitted); });
    added.time = each(*outcome, [&](const Tally& t) { return contestant.time(t); });
  }
  const std::size_t gammas = comparison.settings.at("gammas").size();
  std::size_t best = 0;
  Json by_gamma = Json::array();
  for (std::size_t i = 0; i < gammas; ++i) {
    Json one = numbers(*outcomes[i], speeds[i], confidence);
    one["gamma"] = specs[i].at("gamma");
    by_gamma.push_back(std::move(one));
    if (by_gamma[i].at("speed")[0] > by_gamma[best].at("speed")[0]) best = i;
  }

  Json& simulated = out["simulated"] = Json::object();
  put(simulated, "alpha_overlap", estimate_of(overlaps, "alpha_overlap", confidence));
  for (const auto& [name, value] : by_gamma[best].items()) {
    if (name != "gamma") simulated[name] = value;
  }
  put(out, "proposes",
      ratio_interval(each(overlaps, [](const Tally& t) { return real(t.drafted); }),
                     each(overlaps, [](const Tally& t) { return real(t.overlap_contexts); }), confidence));
  out["best_gamma"] = by_gamma[best].at("gamma");
  Json& policies = out["policies"] = Json::array();
  for (std::size_t i = gammas; i < specs.size(); ++i) {
    if (!outcomes[i]) continue;
    Json one{{"name", name_of(specs[i])}, {"kind", specs[i].at("kind")}};
    one.update(numbers(*outcomes[i], speeds[i], confidence));
    put(one, "gain", paired_difference(speeds[i].batches(), speeds[best].batches(), confidence));
    if (specs[i].at("kind") == "oracle") {
      put(one, "speed_uncharged",
          ratio_interval(speeds[i].tokens, each(*outcomes[i], [](const Tally& t) { return real(t.rounds); }),
                         confidence));
    }
    policies.push_back(std::move(one));
  }
  out["gammas"] = std::move(by_gamma);
  const Tally total = outcomes[best]->total();
  out["counts"] = Json{{"sequences", comparison.task->plan.sequences.size()},
                       {"rounds", total.rounds},
                       {"drafted", total.drafted},
                       {"examined", total.examined},
                       {"accepted", total.accepted},
                       {"emitted", total.emitted}};
}

}  // namespace speclab
