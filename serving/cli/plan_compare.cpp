#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/log_comparison.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"
#include "serving/server/acceptance_law.hpp"

namespace speclab {

namespace {

std::optional<PlanAnswer> answer_compare(const Values& values, const Control& /*control*/) {
  const auto& files = values["files"].as<std::vector<std::string>>();
  if (files.size() != 2) throw UsageError("plan compare: {} files; expected two, A and B", files.size());
  ComparisonQuestion question{.first = files[0], .second = files[1], .log = log_options(values)};
  if (values.has("request")) question.request = values.text("request");
  question.paired = values.has("paired");
  question.gamma = static_cast<int>(checked_count(values, "gamma", 1, longest_draft));
  question.confidence = confidence_option(values);
  question.power = checked_number(values, "power", 0.01, 0.9999);
  return answer_of(values, compare_logs(question), comparison_text, comparison_headline, comparison_figures,
                   "Acceptance of two logs");
}

}  // namespace

PlanWay plan_compare() {
  Verb verb{
      .name = "compare",
      .sentence = "compare acceptance in two logs or two recordings",
      .line = "speclab plan compare A B [options]",
      .about =
          R"(Compares two logs (speclab plan list logs) or two recordings: the differences of alpha, of tokens per target step and of
acceptance by position, B − A, with intervals and p-values, and the differences that such files would have shown.
Requests are taken as independent where the files have them: each JSON object of responses, each line of a log, each
value of a column "request", "request_id" or "sequence", each sequence of a recording. Else pieces of consecutive rounds
are, and the answer says so. Recordings of the same text are compared pair by pair.)",
      .examples = R"(  speclab plan compare old.jsonl new.jsonl
  speclab plan compare monday.csv tuesday.csv --fields accepted=acc,drafted=n --request id
)",
      .positional = "files",
      .several_positional = true};
  verb.section("Files");
  add_log_options(verb);
  verb.add<std::string>("request NAME", "column or key that names the request of a round");
  verb.add("paired", "the requests of both files are the same, in the same order");
  verb.add_value("gamma", number_or(4), "drafted tokens of a round, for recordings");
  verb.section("Test");
  verb.add_value("power", number_or(0.8), "probability with which a \"detectable\" difference is found");
  add_answer_options(verb);
  return {verb, answer_compare};
}

}  // namespace speclab
