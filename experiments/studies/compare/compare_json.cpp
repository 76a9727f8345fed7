// Describes the section and the results of the experiment "compare" as JSON, and writes the results as CSV.
#include "experiments/studies/compare/compare.hpp"

#include <fmt/format.h>

#include "experiments/base/format/csv_values.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/results/result_rows.hpp"
#include "experiments/studies/finished_cells.hpp"

namespace speclab {

const Typed<TaskConfig>& task_type() {
  using T = TaskConfig;
  static const auto type = object<T>(
      "task", "Text to decode, and the target that decodes it.",
      {required(field("name", &T::name, text(), "Name of the task in tables.")),
       required(field("corpus", &T::corpus, corpus_type(), "The text; its held-out documents are decoded.")),
       field("target", &T::target, kind_of(model_family()),
             "The target. Without one the target is the model that writes the text greedily."),
       integer_field("sequences", &T::sequences, 2, 100000,
                     "Held-out documents to decode, from the first one on."),
       integer_field(
           "tokens", &T::tokens, 1, 1000000,
           "Tokens to decode in each, or up to its end where the text is the target; the last round may emit more."),
       integer_field("prompt_tokens", &T::prompt_tokens, 0, 1000000,
                     "Tokens of each document that are its prompt."),
       field("prompt_until", &T::prompt_until, text(),
             "Instead: the prompt ends with this token, such as the line between a text and its summary.")});
  return type;
}

SectionKind compare_section() {
  using C = CompareSection;
  return {
      "compare",
      object<C>(
          "compare", "The experiment compare: every drafter on every task, with every gamma and policy.",
          {required(field("tasks", &C::tasks, list(task_type(), 1, 64), "What is decoded.")),
           required(field("drafters", &C::drafters, list(kind_of(drafter_family()), 1, 64), "What drafts.")),
           field("gammas", &C::gammas, list(integer<std::int32_t>(1, max_tokens_drafted), 1, 64),
                 "The fixed gammas to try; the fastest is \"best\"."),
           field("policies", &C::policies, list(kind_of(policy_family()), 0, 64),
                 "Adaptive policies, compared with the best fixed gamma."),
           with_unit(
               field(
                   "verify", &C::verify, number(0, 1000),
                   "Extra time of a target run per verified token, in target runs; 0 as in Theorem 3.8, where verification is free."),
               "target runs"),
           integer_field("batches", &C::batches, 2, 4096,
                         "Most groups of whole sequences from which intervals are computed."),
           field("only_tasks", &C::only_tasks, list(text(), 1, 64),
                 "Names of the tasks that are run: compare --only."),
           field("only_drafters", &C::only_drafters, list(text(), 1, 64),
                 "Names of the drafters that are run: compare --drafter.")})
          .type};
}

SPECLAB_RESULT(ComparedNumbers, "numbers", alpha_examined, alpha_drafted, drafted_per_round,
               tokens_per_target_step, speedup);

SPECLAB_DESCRIBED(GammaResult,
                  object<GammaResult>("gamma", "",
                                      joined(result_fields<GammaResult>({{"gamma", &GammaResult::gamma}}),
                                             inherited<GammaResult>(described<ComparedNumbers>()))));

SPECLAB_DESCRIBED(PolicyResult,
                  result_object<PolicyResult>(
                      "policy", {SPECLAB_FIELDS(PolicyResult, gain, speedup_drafting_free)},
                      joined(result_fields<PolicyResult>({SPECLAB_FIELDS(PolicyResult, name, kind)}),
                             inherited<PolicyResult>(described<ComparedNumbers>()))));

SPECLAB_OBJECT(CompareResult, "comparison", sparse("unsupported_reason", &CompareResult::unsupported_reason),
               sparse("lossy_rule", &CompareResult::lossy_rule),
               sparse("sequences", &CompareResult::sequences), {"proposes", &CompareResult::proposes},
               sparse("best_gamma", &CompareResult::best_gamma), sparse("gammas", &CompareResult::gammas),
               sparse("policies", &CompareResult::policies));

std::string compare_csv(const Result& result, const Timings&) {
  std::vector<std::string> columns{"policy", "kind"};
  for (const char* name : {"speedup", "speedup_drafting_free", "gain", "tokens_per_target_step",
                           "drafted_per_round", "alpha_examined", "alpha_drafted", "alpha_overlap"}) {
    add_interval_columns(columns, name);
  }
  columns.emplace_back("lossy_rule");
  const ResultRows rows(result, set_paths(result.cells), columns);
  std::string lines = rows.header();
  const auto add = [&](const FinishedCell<CompareResult>& of, const PolicyResult& run) {
    std::vector<CsvValue> row{run.name, run.kind};
    for (const auto& interval :
         {run.speedup, run.speedup_drafting_free, run.gain, run.tokens_per_target_step, run.drafted_per_round,
          run.alpha_examined, run.alpha_drafted, value_of(of.cell.simulated, Metric::alpha_overlap)}) {
      add_interval(row, interval);
    }
    row.emplace_back(of.own.lossy_rule);
    lines += rows.line(of.index, of.cell, std::move(row));
  };
  for (const auto& one : finished_cells<CompareResult>(result)) {
    for (const GammaResult& run : one.own.gammas)
      add(one, {run, fmt::format("gamma = {}", run.gamma), "fixed", {}, {}});
    for (const PolicyResult& run : one.own.policies) add(one, run);
  }
  return lines;
}

}  // namespace speclab
