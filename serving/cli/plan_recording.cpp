#include <algorithm>

#include "experiments/base/command/options.hpp"
#include "experiments/base/support/machine.hpp"
#include "serving/advisor/recording_plan.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"

namespace speclab {

namespace {

std::optional<PlanAnswer> answer_recording(const Values& values, const Control& /*control*/) {
  PlanSettings settings = plan_settings(values);
  const ThreadLimit limit(thread_option(values));
  const std::string& file = values.text("recording");
  const auto text_or_none = [&](const char* option) { return values.has(option) ? values.text(option) : ""; };
  const PlannedPair pair = costs_of(values, "", settings.at);
  if (pair.most_drafted) settings.max_gamma = std::min(settings.max_gamma, *pair.most_drafted);
  const std::optional<AnyRule> rate = rate_rule(values.text("rule"));
  const ReadRecording read =
      read_recording(file, text_or_none("draft-recording"), rate ? &*rate : nullptr, text_or_none("column"));
  const RecordingRule rule = recording_rule(values.text("rule"), !read.recording.rows.empty());
  PlanAnswer answer = answer_of(plan_recording(read, file, rule, pair, settings, values.has("cut")),
                                recording_plan_text, recording_headline, recording_figures);
  for (std::string& warning : answer.warnings) warning = file + ": " + warning;
  answer.input = file;
  return answer;
}

}  // namespace

PlanWay plan_recording() {
  namespace po = boost::program_options;
  Verb verb{
      .name = "recording",
      .sentence = "from a text with log-probabilities under target and draft",
      .line = "speclab plan recording FILE (--c C | COSTS) [options]",
      .about =
          R"(Plans for a text with log-probabilities, or rows, under target and draft (docs/recordings.md), from which
every gamma follows exactly.)",
      .examples = R"(  speclab plan recording recorded.csv --c 0.05
  speclab plan recording target.json --draft-recording draft.json --c 0.05
)",
      .positional = "recording"};
  auto add = verb.options.add_options();
  add("draft-recording", po::value<std::string>(), "the draft's, where files hold one model each");
  add("column", po::value<std::string>(), "the drafter NAME of its column logq.NAME, of a file with several");
  add("rule", po::value<std::string>()->default_value("token"), "token or block; of rows any");
  add("cut", "the recording's target was cut: top-k, top-p, temperature 0");
  add_cost_options(verb.options);
  add_server_options(verb);
  add_max_gamma_option(verb, PlanSettings().max_gamma);
  add_answer_options(verb);
  add_thread_option(verb);
  return {verb, answer_recording};
}

}  // namespace speclab
