// The experiment "compare": drafters x gamma policies x tasks. A cell is one drafter on one task; it decodes
// the same sequences, with the same random numbers, under every gamma and policy.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/statistics/intervals.hpp"
#include "analysis/statistics/sample_intervals.hpp"
#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/studies/compare/compare.hpp"
#include "experiments/studies/compare/drafter_benchmark.hpp"
#include "sim/parallel.hpp"
#include "sim/policies/fixed.hpp"

namespace speclab {

namespace {

const CompareSection& section_of(const Config& config) { return config.section<CompareSection>(); }

const std::string& label_of(const TaskConfig& task) { return task.name; }

/// Returns the index of the first entry of a list with this name; the list's size if there is none.
template <class T>
std::size_t index_of(const std::vector<T>& list, const std::string& name) {
  const auto found = std::ranges::find_if(list, [&](const T& one) { return label_of(one) == name; });
  return static_cast<std::size_t>(found - list.begin());
}

/// Throws ConfigError at `path` if two entries of a list have the same name.
template <class T>
void check_distinct_names(const std::vector<T>& list, const std::string& path) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string& name = label_of(list[i]);
    const std::size_t earlier = index_of(list, name);
    if (earlier == i) continue;
    throw ConfigError(fmt::format("{}/{}/name", path, i),
                      "\"{}\" is the name of entry {}, too; give one of them another \"name\"", name,
                      earlier);
  }
}

using Names = std::optional<std::vector<std::string>>;

bool among(const Names& names, const std::string& name) {
  return !names || std::ranges::find(*names, name) != names->end();
}

/// Throws ConfigError at `path` for names that no entry of the list has.
template <class T>
void check_known(const Names& names, const std::vector<T>& list, const std::string& path) {
  for (std::size_t i = 0; names && i < names->size(); ++i) {
    const std::string& name = (*names)[i];
    if (index_of(list, name) < list.size()) continue;
    std::vector<std::string> known;
    for (const T& one : list) known.push_back(label_of(one));
    throw ConfigError(fmt::format("{}/{}", path, i), "no entry is called \"{}\"{}", name,
                      suggestion(name, known));
  }
}

template <class T>
std::size_t index_of(const std::vector<T>& list, const CellSpec& cell, const std::string& what) {
  const auto set = std::ranges::find_if(cell.set, [&](const auto& one) { return one.first == what; });
  return index_of(list, set->second->template get<std::string>());
}

std::vector<double> each(const Outcome& outcome, const std::function<double(const Tally&)>& number) {
  std::vector<double> all;
  for (const Tally& batch : outcome.batches) all.push_back(number(batch));
  return all;
}

struct Speeds {
  std::vector<double> tokens;
  std::vector<double> time;
  BatchRatio batches() const { return {tokens, time}; }
};

/// Returns tokens per unit of `below`, from sequences of equally many tokens.
std::optional<Interval> tokens_per(const std::vector<double>& tokens, const std::vector<double>& below,
                                   const Support& support, double confidence) {
  const double most = *std::max_element(tokens.begin(), tokens.end());
  return bounded_ratio_interval(tokens, below, support, confidence,
                                LargestDenominators{most / support.low, most / support.high});
}

/// Computes the numbers of rounds whose policy ends drafting at `most` tokens.
ComparedNumbers numbers(const Outcome& outcome, const Speeds& speeds, const BenchmarkEntry& entry,
                        std::int32_t most, double confidence, Independence independence) {
  const double longest = entry.drafter->largest(most).count;
  // The speedup among these metrics assumes a single cost and is not used.
  const ByMetric<Interval> metrics =
      simulated_metrics(outcome.batches, {}, confidence, independence, {EqualLength::tokens, longest});
  return {
      .alpha_examined = value_of(metrics, Metric::alpha_examined),
      .alpha_drafted = value_of(metrics, Metric::alpha_drafted),
      .drafted_per_round =
          known_bounds(bounded_ratio_interval(each(outcome, [](const Tally& t) { return real(t.drafted); }),
                                              each(outcome, [](const Tally& t) { return real(t.rounds); }),
                                              {0, longest}, confidence),
                       independence),
      .tokens_per_target_step = value_of(metrics, Metric::tokens_per_target_step),
      .speedup = known_bounds(
          tokens_per(speeds.tokens, speeds.time, entry.possible_speedups(most), confidence), independence)};
}

/// A drafter on a task, decoded with every gamma and policy.
class Comparison {
 public:
  Comparison(const CellSpec& cell, std::shared_ptr<const BenchmarkTask> task, BenchmarkEntry entry)
      : config_(cell.config),
        section_(section_of(cell.config)),
        task_(std::move(task)),
        entry_(std::move(entry)) {}

  std::uint64_t steps() const {
    return task_->sequences.tokens() * (1 + section_.gammas.size() + section_.policies.size());
  }

  /// Measures the cell. Throws Stopped.
  void run(CellResult& result, const RunContext& context) const {
    const Measured measured = measure(context.control);
    CompareResult own;
    describe(result, own, measured, context.confidence);
    result.own = std::move(own);
  }

 private:
  struct Run {
    AnyPolicy policy;
    std::optional<Outcome> outcome;  ///< empty if the policy has no meaning for the drafter
  };
  struct Measured {
    Outcome overlap;        ///< acceptance rates in the text that the target generates
    std::vector<Run> runs;  ///< for every gamma, then for every policy
  };

  Measured measure(const Control& control) const {
    const SequenceSet& set = task_->sequences;
    Measured measured;
    std::vector<Run>& runs = measured.runs;
    for (const std::int32_t gamma : section_.gammas) runs.push_back({FixedPolicy(gamma), std::nullopt});
    const PolicyRequest request{[&](std::int32_t drafted) { return entry_.round_time(drafted); }};
    for (const PolicyConfig& policy : section_.policies)
      runs.push_back({make_policy(policy, request), std::nullopt});
    const TargetOf target_of = [&](std::size_t sequence) { return task_->target_of(sequence); };
    for_each_index(runs.size() + 1, [&](std::size_t i) {
      if (i == runs.size()) {
        measured.overlap = measure_first_acceptance(set, target_of, *entry_.drafter, entry_.rule, control);
      } else if (!runs[i].policy.foresees() || entry_.drafter->foretells_runs()) {
        runs[i].outcome =
            decode_sequences(set, target_of, *entry_.drafter, runs[i].policy, entry_.rule, control);
      }
    });
    const auto stopped = [](const Run& run) { return run.outcome && run.outcome->partial; };
    if (measured.overlap.partial || std::ranges::any_of(runs, stopped)) throw Stopped{};
    return measured;
  }

  Speeds speeds(const Outcome& outcome) const {
    return {each(outcome, [](const Tally& t) { return real(t.emitted); }),
            each(outcome, [&](const Tally& t) { return entry_.time(t); })};
  }

  void describe(CellResult& result, CompareResult& own, const Measured& measured, double confidence) const {
    const std::size_t sequences = task_->sequences.sequences.size();
    const Independence independence =
        sequences >= min_judged_sequences ? Independence::batches : Independence::nothing;
    const auto numbers_of = [&](const Run& run, const Speeds& its) {
      return numbers(*run.outcome, its, entry_, run.policy.most(), confidence, independence);
    };
    const std::size_t gammas = section_.gammas.size();
    std::vector<Speeds> by_gamma;
    std::size_t best = 0;
    for (std::size_t i = 0; i < gammas; ++i) {
      by_gamma.push_back(speeds(*measured.runs[i].outcome));
      own.gammas.push_back({numbers_of(measured.runs[i], by_gamma[i]), section_.gammas[i]});
      if (own.gammas[i].speedup->estimate > own.gammas[best].speedup->estimate) best = i;
    }
    std::vector<BatchRatio> all_gammas;
    for (const Speeds& one : by_gamma) all_gammas.push_back(one.batches());
    own.best_gamma = section_.gammas[best];
    own.sequences = sequences;
    own.lossy_rule = entry_.lossy_rule;

    const Outcome& overlaps = measured.overlap;
    own.proposes = known_bounds(
        bounded_ratio_interval(each(overlaps, [](const Tally& t) { return real(t.drafted); }),
                               each(overlaps, [](const Tally& t) { return real(t.overlap_contexts); }),
                               {0, 1}, confidence),
        independence);
    const auto put = [&](Metric metric, const std::optional<Interval>& interval) {
      if (interval) result.simulated.emplace_back(metric, *interval);
    };
    if (entry_.rule->has_acceptance_rate())
      put(Metric::alpha_overlap,
          value_of(simulated_metrics(overlaps.batches, {}, confidence, independence), Metric::alpha_overlap));
    const GammaResult& fastest = own.gammas[best];
    put(Metric::alpha_examined, fastest.alpha_examined);
    put(Metric::alpha_drafted, fastest.alpha_drafted);
    put(Metric::tokens_per_target_step, fastest.tokens_per_target_step);
    put(Metric::speedup, fastest.speedup);

    for (std::size_t i = 0; i < section_.policies.size(); ++i) {
      const Run& run = measured.runs[gammas + i];
      if (!run.outcome) continue;
      const Speeds its = speeds(*run.outcome);
      const PolicyConfig& policy = section_.policies[i];
      PolicyResult one{numbers_of(run, its), label_of(policy), policy.name(), {}, {}};
      one.gain = known_bounds(difference_to_best(its.batches(), all_gammas, confidence), independence);
      if (run.policy.foresees()) {
        one.speedup_drafting_free = known_bounds(
            tokens_per(its.tokens, each(*run.outcome, [](const Tally& t) { return real(t.rounds); }),
                       {1, 1.0 + run.policy.most()}, confidence),
            independence);
      }
      own.policies.push_back(std::move(one));
    }
    result.counts = counts_of(measured.runs[best].outcome->total());
  }

  const Config& config_;
  const CompareSection& section_;
  std::shared_ptr<const BenchmarkTask> task_;
  BenchmarkEntry entry_;
};

std::vector<CellSpec> by_task_and_drafter(CellSpec whole) {
  const CompareSection& section = section_of(whole.config);
  if (section.tasks.empty()) {
    throw ConfigError("/compare", "missing; compare needs \"tasks\" and \"drafters\"");
  }
  check_distinct_names(section.tasks, "/compare/tasks");
  check_distinct_names(section.drafters, "/compare/drafters");
  check_distinct_names(section.policies, "/compare/policies");
  check_known(section.only_tasks, section.tasks, "/compare/only_tasks");
  check_known(section.only_drafters, section.drafters, "/compare/only_drafters");
  std::vector<CellSpec> cut;
  for (const TaskConfig& task : section.tasks) {
    if (!among(section.only_tasks, task.name)) continue;
    for (const DrafterConfig& drafter : section.drafters) {
      if (!among(section.only_drafters, label_of(drafter))) continue;
      CellSpec& cell = cut.emplace_back(whole);
      cell.set.emplace_back("task", std::make_shared<const Json>(task.name));
      cell.set.emplace_back("drafter", std::make_shared<const Json>(label_of(drafter)));
      cell.label = fmt::format("{}{}{}: {}", whole.label, whole.label.empty() ? "" : ", ", task.name,
                               label_of(drafter));
    }
  }
  return cut;
}

void check_comparison(const Config& cell) {
  const CompareSection& section = section_of(cell);
  for (std::size_t i = 0; i < section.tasks.size(); ++i) {
    const TaskConfig& task = section.tasks[i];
    const FactsRequest request{.corpus = &task.corpus,
                               .corpus_path = fmt::format("/compare/tasks/{}/corpus", i)};
    if (task.target && among(section.only_tasks, task.name)) facts_of(*task.target, request);
  }
  for (const DrafterConfig& drafter : section.drafters) {
    if (!among(section.only_drafters, label_of(drafter))) continue;
    const RuleConfig& rule = drafter.rule ? *drafter.rule : cell.rule;
    require_one_draft(rule, "compare");
    require_every_gamma(rule, "compare");
  }
}

Work prepare_comparison(const CellSpec& cell, JobList& jobs) {
  const CompareSection& section = section_of(cell.config);
  const std::size_t at = index_of(section.tasks, cell, "task");
  const std::string path = fmt::format("/compare/tasks/{}", at);
  auto task = shared_task(section.tasks[at], path, cell.config, jobs);
  BenchmarkEntry entry = make_entry(section.drafters[index_of(section.drafters, cell, "drafter")],
                                    section.tasks[at], path, *task, cell.config, jobs.factory());
  if (!entry.drafter) {
    return {.finish = [reason = entry.unsupported_reason](CellResult& result, const RunContext&) {
      CompareResult own;
      own.unsupported_reason = reason;
      result.own = std::move(own);
    }};
  }
  const auto comparison = std::make_shared<const Comparison>(cell, std::move(task), std::move(entry));
  const auto finish = [comparison](CellResult& result, const RunContext& context) {
    comparison->run(result, context);
  };
  return {.finish = finish, .own_steps = comparison->steps()};
}

}  // namespace

const Experiment& compare_experiment() {
  static const Experiment experiment{
      .name = "compare",
      .sentence = "Drafters and gamma policies compared with one another on held-out documents.",
      .sections = {"compare"},
      .reads = {"sampling", "rule"},
      .instead = {{"gamma", "give \"gammas\" to \"compare\""},
                  {"cost", "give \"c\" to drafters"},
                  {"corpus", "give one to each task"},
                  {"models", "give a target to tasks"}},
      .check = check_comparison,
      .prepare = prepare_comparison,
      .split = by_task_and_drafter,
      // alpha four times, tokens and speedup; then speedup and gain for each policy
      .intervals =
          [](const Config& cell) { return 6 + 2 * static_cast<int>(section_of(cell).policies.size()); },
      .own_key = "comparison",
      .own_result = described<CompareResult>().type,
      .presentation = presented(compare_presentation())};
  return experiment;
}

}  // namespace speclab
