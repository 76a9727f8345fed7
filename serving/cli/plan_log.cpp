#include "experiments/base/command/options.hpp"
#include "experiments/recording/named_records.hpp"
#include "serving/advisor/acceptance_file.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"

namespace speclab {

LogOptions log_options(const Values& values) {
  LogOptions options;
  if (values.has("model")) options.model = values.text("model");
  if (values.has("drafted")) options.drafted = ranged_option(values, "drafted", 1, 1000);
  if (values.has("since")) {
    options.earlier_file = values.text("since");
    options.earlier = read_log_text(options.earlier_file);
  }
  if (values.has("fields")) options.fields = parse_fields(values.text("fields"));
  return options;
}

void add_log_options(Verb& verb) {
  verb.add<std::string>("model NAME", "the model_name to plan for, if the log has several");
  verb.add<std::string>(
      "fields NAME=KEY,...",
      "columns or keys to read, such as accepted=acc_tokens,drafted=usage.draft; also emitted, rounds, model");
  verb.add<int>("drafted", "drafted tokens per round, if the log does not say");
}

namespace {

std::optional<PlanAnswer> answer_log(const Values& values, const Control& /*control*/) {
  const PlanSettings settings = plan_settings(values);
  Drafter drafter{
      costs_of(values, settings.at),
      logged_acceptance(read_acceptance(values.text("log"), log_options(values)), settings.confidence)};
  if (drafter.target.empty()) drafter.target = drafter.acceptance.log->model;
  return answer_of_drafter(values, drafter, settings);
}

}  // namespace

PlanWay plan_log() {
  Verb verb{
      .name = "log",
      .sentence = "plan from the log of a server",
      .line = "speclab plan log FILE (--c C | COSTS) [options]",
      .about =
          R"(Plans from the log of a server (speclab plan list logs shows all formats), or from a file with one line
"drafted,accepted" per round. It estimates alpha by maximum likelihood and tests whether alpha is the same at
all positions. FILE may be compressed by gzip; - is the standard input.)",
      .examples = R"(  speclab plan log accept.csv --c 0.02
  speclab plan log after.prom --since before.prom --model meta-llama/Llama-3.3-70B-Instruct --c 0.02
  speclab plan log rounds.jsonl.gz --fields accepted=acc_tokens,drafted=usage.draft --c 0.02
)",
      .positional = "log"};
  verb.section("Log");
  verb.add<std::string>("since FILE", "an earlier page of the same counters, which is subtracted");
  add_log_options(verb);
  verb.section("Question");
  add_choice_options(verb);
  add_costs_and_answer(verb);
  return {verb, answer_log};
}

}  // namespace speclab
