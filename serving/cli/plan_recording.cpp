#include <algorithm>

#include "experiments/base/command/options.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/recording/named_records.hpp"
#include "serving/advisor/recording_plan.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"
#include "sim/any_rule.hpp"

namespace speclab {

namespace {

std::optional<PlanAnswer> answer_recording(const Values& values, const Control& /*control*/) {
  PlanSettings settings = plan_settings(values);
  const ThreadLimit limit(thread_option(values));
  const std::string& file = values.text("recording");
  const auto text_or_none = [&](const char* option) { return values.has(option) ? values.text(option) : ""; };
  const PlannedPair pair = costs_of(values, settings.at);
  if (pair.max_drafted) settings.max_gamma = std::min(settings.max_gamma, *pair.max_drafted);
  const std::optional<AnyRule> rate = rate_rule(values.text("rule"));
  const ReadRecording read =
      read_recording(file, text_or_none("draft-recording"), rate ? &*rate : nullptr, text_or_none("column"),
                     values.has("fields") ? parse_fields(values.text("fields")) : NamedFields());
  const RecordingRule rule = recording_rule(values.text("rule"), !read.recording.rows.empty());
  PlanAnswer answer = answer_of(values, plan_recording(read, file, rule, pair, settings, values.has("cut")),
                                recording_plan_text, recording_headline, recording_figures);
  for (std::string& warning : answer.warnings) warning = file + ": " + warning;
  return answer;
}

}  // namespace

PlanWay plan_recording() {
  Verb verb{
      .name = "recording",
      .sentence = "plan from a text with log-probabilities under target and draft",
      .line = "speclab plan recording FILE (--c C | COSTS) [options]",
      .about =
          R"(Plans from a text with log-probabilities, or rows, under target and draft (docs/recordings.md). The speedup of every
gamma on this text follows exactly.)",
      .examples = R"(  speclab plan recording recorded.csv --c 0.05
  speclab plan recording target.json --draft-recording draft.json --c 0.05
)",
      .positional = "recording"};
  verb.section("Question");
  verb.add<std::string>("draft-recording FILE", "recording of the draft, if each file holds one model");
  verb.add<std::string>("column NAME",
                        "drafter to read from the column logq.NAME, if the file has several drafters");
  verb.add<std::string>(
      "fields NAME=KEY,...",
      "columns or keys to read, such as logp=target_lp,logq=draft_lp; also sequence, position, entropy, task");
  verb.add<std::string>("rule NAME", "token", "token or block; for recorded rows any rule");
  verb.add("cut", "the recording's target was cut: top-k, top-p, temperature 0");
  add_max_gamma_option(verb, PlanSettings().max_gamma);
  add_thread_option(verb);
  add_costs_and_answer(verb);
  return {verb, answer_recording};
}

}  // namespace speclab
