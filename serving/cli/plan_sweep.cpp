#include "serving/advisor/sweep_plan.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"

namespace speclab {

namespace {

std::optional<PlanAnswer> answer_sweep(const Values& values, const Control& /*control*/) {
  SweepQuestion question{.file = values.text("table")};
  question.fields = log_options(values).fields;
  if (values.has("by")) question.by = values.text("by");
  if (values.has("other")) {
    constexpr std::size_t most = 20;
    question.alphas =
        number_list("--other", values.text("other"), "rates from 0 to 1, such as 0.6 or 0.6,0.8", most,
                    [](double alpha) { return alpha >= 0 && alpha <= 1; });
  }
  question.batch = checked_number(values, "batch", 1, 1e6);
  question.confidence = confidence_option(values);
  return answer_of(values, plan_sweep(question), sweep_text, sweep_headline, sweep_figures,
                   "A sweep over the drafted tokens");
}

}  // namespace

PlanWay plan_sweep() {
  Verb verb{
      .name = "sweep",
      .sentence = "explain a table of measured speeds by the number of drafted tokens",
      .line = "speclab plan sweep TABLE [options]",
      .about =
          R"(Reads a table (CSV or Markdown) with a line for each number K of drafted tokens: K, tokens a second (or TPOT in ms),
and acceptance (accepted / drafted) or accepted length (with the bonus), as SGLang's and llama.cpp's sweeps and
community tables have them. It prints the time of a step by K with a line through it, the best K and those that the scatter does not tell
from it, and the best K with another acceptance (--other) or the step times of another sweep of the table (--by).)",
      .examples = R"(  speclab plan sweep sweep.csv
  speclab plan sweep sweep.md --by "power cap" --other 0.6,0.9
  speclab plan sweep modes.md --fields k=Mode,rate=Throughput,length="Avg accept len"
)",
      .positional = "table"};
  verb.section("Table");
  verb.add<std::string>(
      "fields NAME=COLUMN,...",
      "the columns k, rate (or tpot, in ms), acceptance and length, if they have other names");
  verb.add<std::string>("by COLUMN",
                        "the column whose values separate sweeps, such as a power cap or a prompt");
  verb.add_value("batch", number_or(1), "sequences whose tokens the rates count together");
  verb.section("Question");
  verb.add<std::string>("other RATE,...", "other acceptance rates (accepted / examined) to ask about");
  add_answer_options(verb);
  return {verb, answer_sweep};
}

}  // namespace speclab
