#include "experiments/bench/rule_suite.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "core/random/random_source.hpp"
#include "core/round/round.hpp"
#include "core/stop.hpp"
#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/bench/model_pairs.hpp"
#include "experiments/format/result_fields.hpp"
#include "experiments/page/cells.hpp"
#include "experiments/page/table.hpp"
#include "experiments/support/machine.hpp"

namespace speclab {

SPECLAB_RESULT(DrawSpeed, "draw_speed", vocab, seconds);
SPECLAB_RESULT(RuleSpeed, "rule_speed", rule, vocab, drafted, seconds, spread, decision_seconds);
SPECLAB_RESULT(RuleReport, "rules", machine, gamma, drafts, draws, speeds, survey);

namespace {

/// Work that is repeated with other random numbers each time: `work(i)` returns the tokens that it drew.
class RepeatedWork {
 public:
  explicit RepeatedWork(std::function<std::int32_t(std::uint32_t)> work) : work_(std::move(work)) {
    // So many that a measurement takes some hundredths of a second.
    constexpr double long_enough = 0.02;
    for (times_ = 16; times_ < (1U << 24);) {
      const double start = thread_seconds();
      run();
      const double took = thread_seconds() - start;
      if (took >= long_enough) break;
      times_ =
          took > long_enough / 64 ? static_cast<std::uint32_t>(times_ * long_enough / took) + 1 : times_ * 8;
    }
  }

  void run() {
    std::uint64_t drawn = 0;
    for (std::uint32_t i = 0; i < times_; ++i) {
      end_if_stopped();
      drawn += static_cast<std::uint64_t>(work_(i));
    }
    drawn_ = static_cast<double>(drawn) / times_;
  }

  std::uint32_t times() const { return times_; }
  double drawn() const { return drawn_; }

 private:
  std::function<std::int32_t(std::uint32_t)> work_;
  std::uint32_t times_ = 0;
  double drawn_ = 0;
};

AnyRule sampled_rule(const SurveyTask& task, const RuleSuiteOptions& options) {
  RuleConfig rule;
  rule.kind = task.kind;
  rule.parameters = task.rule->parameters(options.drafts);
  rule.path = "/rule";
  return make_rule(rule, options.gamma).sampled;
}

void measure_vocab(const RuleSuiteOptions& options, std::int32_t vocab, RuleReport& report) {
  const PairModels pair = dirichlet_pair(vocab, 0);
  const std::vector<SurveyTask> tasks = survey_tasks();
  std::vector<RepeatedWork> work;
  // Memory is kept from one to the next.
  const auto add = [&work](const auto& round) {
    work.emplace_back([round, context = std::vector<Token>{},
                       scratch = RoundScratch<double>{}](std::uint32_t number) mutable {
      context.clear();
      SampledRandomSource random = sampled_random_source(1, 0, number);
      return round(context, random, scratch);
    });
  };
  add([&](auto& context, auto& random, auto& scratch) {
    return FixedDrafting<Model>{pair.draft, options.gamma}(context, random, scratch).count;
  });
  for (const SurveyTask& task : tasks) {
    add([&, rule = sampled_rule(task, options)](auto& context, auto& random, auto& scratch) {
      return rule->round(pair.target, pair.draft, options.gamma, context, random, scratch, {}).drafted;
    });
  }
  std::vector<TimedJob> jobs;
  for (RepeatedWork& one : work) jobs.emplace_back([&one] { one.run(); });
  const std::vector<Timing> timings = measure_interleaved(jobs, options.repetitions);
  const auto seconds = [&](std::size_t i) { return median(timings[i].processor_seconds) / work[i].times(); };

  const double draw = seconds(0) / options.gamma;
  report.draws.push_back({vocab, draw});
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const double round = seconds(i + 1);
    const double drafted = work[i + 1].drawn();
    report.speeds.push_back({tasks[i].rule->label, vocab, drafted, round,
                             spread(timings[i + 1].processor_seconds), round - drafted * draw});
  }
}

}  // namespace

RuleReport run_rule_suite(const RuleSuiteOptions& options, Survey survey) {
  RuleReport report{machine_description(), options.gamma, options.drafts, {}, {}, std::move(survey)};
  for (const std::int32_t vocab : options.vocabs) measure_vocab(options, vocab, report);
  return report;
}

std::string rule_report_text(const RuleReport& report) {
  constexpr double micro = 1e-6;
  constexpr int time_digits = 3;
  Table table{"rules",
              fmt::format("{}; one thread, γ = {}, {} drafts where a rule has several", report.machine,
                          report.gamma, report.drafts),
              {"rule", "mean TV", "mean share", "least"}};
  std::string drawing;
  for (const DrawSpeed& draw : report.draws) {
    table.columns.push_back(fmt::format("µs, V = {}", draw.vocab));
    drawing += fmt::format("{}{} µs at V = {}", drawing.empty() ? "" : ", ",
                           digits_text(draw.seconds / micro, time_digits), draw.vocab);
  }
  for (const SurveyRow& rule : report.survey.rules) {
    const auto share = [&rule](double OptimumShare::*part) {
      return rule.optimum ? Cell{fmt::format("{:.4f}", *rule.optimum.*part), *rule.optimum.*part}
                          : text_cell("-");
    };
    std::vector<Cell> row{text_cell(rule.rule), tv_cell(rule), share(&OptimumShare::mean),
                          share(&OptimumShare::least)};
    for (const RuleSpeed& speed : report.speeds) {
      if (speed.rule == rule.rule) row.push_back(measured_cell(speed.decision_seconds / micro, time_digits));
    }
    table.rows.push_back(std::move(row));
  }
  table.note = fmt::format(
      "TV and share: of prove --all --optimum, {} instances, seed {}; TV 0 is proved. µs: a round by the rule's "
      "definition, less the draws of its drafted tokens ({} each). Rows are at hand.",
      report.survey.instances, report.survey.seed, drawing);
  return terminal(table);
}

}  // namespace speclab
