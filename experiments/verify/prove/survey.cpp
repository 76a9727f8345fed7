#include "experiments/verify/prove/survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/random/uniform_int_distribution.hpp>
#include <nlohmann/json.hpp>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/losslessness.hpp"
#include "core/random/philox.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// Most branches of an instance: tens of milliseconds of rational arithmetic.
constexpr double few_branches = 10000;

enum class InstanceKind { generic, zeros, point_target, point_draft, equal, disjoint };
constexpr int instance_kinds = 6;

/// Draws integers in [least, most], addressed by seed and instance.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint32_t number) : stream_(seed, Site{number, 0, Draw{Use::world, 0}}) {}
  int operator()(int least, int most) {
    return boost::random::uniform_int_distribution<int>(least, most)(stream_);
  }

 private:
  Philox stream_;
};

/// Draws weights 1..9 or, if `zeros`, 0..9 with a third of zeros; with `side` 0 or 1, only ids of that parity
/// get weight.
std::vector<Rational> random_weights(Dice& dice, int vocab, bool zeros, int side) {
  std::vector<Rational> weights;
  for (int id = 0; id < vocab; ++id) {
    int weight = dice(1, 9);
    if (zeros && dice(1, 3) == 1) weight = 0;
    if (side >= 0 && id % 2 != side) weight = 0;
    weights.emplace_back(weight);
  }
  if (std::all_of(weights.begin(), weights.end(), [](const Rational& weight) { return weight == 0; }))
    weights[static_cast<std::size_t>(side > 0 ? 1 : 0)] = 1;
  return weights;
}

std::vector<Rational> random_point(Dice& dice, int vocab) {
  std::vector<Rational> weights(static_cast<std::size_t>(vocab), Rational(0));
  weights[static_cast<std::size_t>(dice(0, vocab - 1))] = 1;
  return weights;
}

void fill_rows(Dice& dice, InstanceKind kind, int vocab, int rows, ProofTask& task) {
  task.target.clear();
  task.draft.clear();
  for (int row = 0; row < rows; ++row) {
    const bool zeros = kind == InstanceKind::zeros;
    const bool disjoint = kind == InstanceKind::disjoint;
    const auto target = kind == InstanceKind::point_target
                            ? random_point(dice, vocab)
                            : random_weights(dice, vocab, zeros, disjoint ? 0 : -1);
    const auto draft = kind == InstanceKind::equal ? target
                       : kind == InstanceKind::point_draft
                           ? random_point(dice, vocab)
                           : random_weights(dice, vocab, zeros, disjoint ? 1 : -1);
    task.target.push_back(target);
    task.draft.push_back(draft);
  }
  normalise_exactly(task.target);
  normalise_exactly(task.draft);
}

/// Replaces each row by a point mass at the lowest id of its maximum.
void take_argmax(ExactRows& rows) {
  for (auto& row : rows) {
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    row.assign(row.size(), Rational(0));
    row[static_cast<std::size_t>(best)] = Rational(1);
  }
}

RuleConfig rule_of(const SurveyTask& survey, std::int32_t drafts) {
  RuleConfig rule;
  rule.kind = survey.kind;
  rule.parameters = survey.rule->parameters(drafts);
  rule.path = "/rule";
  return rule;
}

/// Returns rows in the form that `speclab prove` reads.
std::string rows_text(const ExactRows& rows) {
  std::string out;
  for (const auto& row : rows) {
    for (const Rational& probability : row) out += probability.str() + ",";
    out.back() = ';';
  }
  out.pop_back();
  return out;
}

/// Returns the command that shows one instance again.
std::string command_for(const ProofTask& task) {
  Json rule;
  write(kind_of(rule_family()), task.rule, rule);
  std::string command = "speclab prove";
  for (const auto& [key, value] : rule.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (key == "kind") {
      command += " --rule " + text;
    } else if (key == "drafts" || key == "lenience" || key == "residual") {
      command += fmt::format(" --{} {}", key, text);
    } else {
      command += fmt::format(" --param {}={}", key, text);
    }
  }
  return fmt::format("{} --target \"{}\" --draft \"{}\" --gamma {} --exact", command, rows_text(task.target),
                     rows_text(task.draft), task.gamma);
}

/// The part of one proof that a survey keeps.
struct InstanceResult {
  Rational distance;
  double acceptance = 0;
  double bound = 0;
  std::uint64_t branches = 0;
  Rational emitted;
  std::optional<ProofOptimum> optimum = std::nullopt;
};

InstanceResult examine_instance(const SurveyTask& survey, std::uint64_t seed, std::uint32_t number,
                                bool optimum) {
  const ProofTask task = survey_instance(survey, seed, number);
  const ExactTable<Rational> target(task.target);
  const ExactTable<Rational> draft(task.draft);
  const RulePrograms rule = make_rule(task.rule, task.gamma);
  const Losslessness<Rational> found = examine<Rational>(
      ModelRef<Rational>(target), ModelRef<Rational>(draft), rule.enumerated, task.gamma, {});
  std::vector<Rational> scratch;
  const auto bound = rule.enumerated->best_acceptance(target.next({}, scratch), draft.next({}, scratch));
  InstanceResult result{.distance = found.distance,
                        .acceptance = static_cast<double>(found.acceptance()),
                        .bound = static_cast<double>(bound.value()),
                        .branches = found.branches,
                        .emitted = found.expected_emitted};
  // Greedy rules have no optimum here, which is that of schemes that sample the target.
  if (optimum && !rule.sampled->takes_argmax() && rule.enumerated->drafting())
    result.optimum = optimum_of(task, Arithmetic::rational);
  return result;
}

/// Returns nothing if no instance has an optimum.
std::optional<OptimumShare> share_of_optimum(const SurveyTask& survey, std::uint64_t seed,
                                             const std::vector<InstanceResult>& results) {
  OptimumShare share;
  using Part = std::pair<double, std::uint32_t>;  // the share, and its instance
  std::vector<Part> parts;
  for (std::uint32_t i = 0; i < results.size(); ++i) {
    const std::optional<ProofOptimum>& optimum = results[i].optimum;
    if (!optimum) continue;
    double part = static_cast<double>(results[i].emitted) / as_double(optimum->expected_emitted);
    if (optimum->proved) {
      ++share.proved;
      const Rational best(std::get<std::string>(optimum->expected_emitted));
      if (results[i].emitted == best) {
        ++share.attained;
        part = 1;
      }
      if (results[i].emitted > best) ++share.above;
    }
    share.mean += part;
    parts.emplace_back(part, i);
  }
  if (parts.empty()) return std::nullopt;
  share.mean /= static_cast<double>(parts.size());
  const auto less = [](const Part& a, const Part& b) { return a.first < b.first; };
  const Part least = *std::min_element(parts.begin(), parts.end(), less);
  const Part most = *std::max_element(parts.begin(), parts.end(), less);
  share.least = least.first;
  share.most = most.first;
  if (share.attained < parts.size()) {
    const std::uint32_t shown = share.above > 0 ? most.second : least.second;
    share.command = command_for(survey_instance(survey, seed, shown)) + " --optimum";
  }
  return share;
}

SurveyRow summary(const SurveyTask& survey, std::uint64_t seed, const std::vector<InstanceResult>& results) {
  SurveyRow row;
  row.rule = survey.rule->label;
  row.expected = survey.kind->expected_lossless;
  row.instances = results.size();
  std::size_t worst = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].distance == 0) ++row.lossless;
    if (results[i].distance > results[worst].distance) worst = i;
    row.branches += results[i].branches;
    row.mean_tv += static_cast<double>(results[i].distance) / static_cast<double>(results.size());
    row.mean_acceptance += results[i].acceptance / static_cast<double>(results.size());
    row.mean_optimal_transport_bound += results[i].bound / static_cast<double>(results.size());
  }
  row.as_expected = row.expected == ExpectedLossless::never || row.lossless == row.instances;
  row.worst_tv = results[worst].distance.str();
  row.optimum = share_of_optimum(survey, seed, results);
  if (row.lossless < row.instances) {
    const ProofTask task = survey_instance(survey, seed, static_cast<std::uint32_t>(worst));
    row.counterexample =
        SurveyCounterexample{prove(task, Arithmetic::rational).counterexample.value(), command_for(task)};
  }
  return row;
}

}  // namespace

std::vector<SurveyTask> survey_tasks() {
  std::vector<SurveyTask> tasks;
  const Family<RuleKind>& family = rule_family();
  for (std::size_t i = 0; i < family.size(); ++i) {
    for (const SurveyedRule& rule : family.entry(i).surveyed) tasks.push_back({&family.entry(i), &rule});
  }
  std::stable_partition(tasks.begin(), tasks.end(), [](const SurveyTask& task) {
    return task.kind->expected_lossless != ExpectedLossless::never;
  });
  return tasks;
}

ProofTask survey_instance(const SurveyTask& survey, std::uint64_t seed, std::uint32_t number) {
  Dice dice(seed, number);
  const auto kind = static_cast<InstanceKind>(dice(0, instance_kinds - 1));
  int vocab = dice(2, 4);
  int drafts = dice(1, 3);
  const bool chain = dice(0, 1) == 1;
  ProofTask task;
  task.gamma = dice(1, 3);
  // The bound assumes full supports, so an instance's size does not depend on its zeros.
  const auto too_large = [&] {
    const auto width = static_cast<std::size_t>(vocab);
    task.target.assign(1, std::vector<Rational>(width, Rational(1)));
    task.draft = task.target;
    task.rule = rule_of(survey, drafts);
    return branch_bound(task) > few_branches;
  };
  while (too_large()) {
    if (task.gamma >= drafts && task.gamma > 1) {
      --task.gamma;
    } else if (drafts > 1) {
      --drafts;
    } else {
      --vocab;
    }
  }
  fill_rows(dice, kind, vocab, chain ? vocab : 1, task);
  if (survey.kind->expected_lossless == ExpectedLossless::at_temperature_zero) take_argmax(task.target);
  return task;
}

Survey prove_all(std::uint32_t instances, std::uint64_t seed, bool optimum, const Control& control) {
  const std::vector<SurveyTask> tasks = survey_tasks();
  std::vector<std::vector<InstanceResult>> results(tasks.size(), std::vector<InstanceResult>(instances));
  std::atomic<bool> stopped{false};
  for_each_index(tasks.size() * instances, [&](std::size_t index) {
    if (stopped || control.stop()) {
      stopped = true;
      return;
    }
    const std::size_t which = index / instances;
    const auto number = static_cast<std::uint32_t>(index % instances);
    results[which][number] = examine_instance(tasks[which], seed, number, optimum);
    control.progress(1);
  });

  Survey survey{.instances = instances, .seed = seed, .partial = stopped, .rules = {}};
  if (survey.partial) return survey;
  survey.as_expected = true;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    survey.rules.push_back(summary(tasks[i], seed, results[i]));
    survey.as_expected = survey.as_expected && survey.rules.back().as_expected;
  }
  return survey;
}

}  // namespace speclab
