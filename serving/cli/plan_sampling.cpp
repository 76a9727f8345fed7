#include <fmt/format.h>

#include <cmath>

#include "core/rules/block.hpp"
#include "experiments/base/command/options.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/verify/prove/proof_task.hpp"
#include "serving/advisor/sampling_plan.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"
#include "sim/models/table_model.hpp"

namespace speclab {

namespace {

constexpr double max_temperature = 100;

/// Returns the numbers of a list such as "1" or "0.5,1", each from `least` to `most`; integers for an
/// integral T.
template <class T>
std::vector<T> numbers_of(const Values& values, const char* name, double least, double most) {
  if (!values.has(name)) return {};
  constexpr bool whole = std::is_integral_v<T>;
  constexpr std::size_t max_numbers = 32;
  const std::vector<double> numbers =
      number_list(std::string("--") + name, values.text(name),
                  fmt::format("{} from {:g} to {:g}, several separated by commas",
                              whole ? "integers" : "numbers", least, most),
                  max_numbers, [&](double number) {
                    return number >= least && number <= most && (!whole || number == std::floor(number));
                  });
  std::vector<T> found;
  for (const double number : numbers) found.push_back(static_cast<T>(number));
  return found;
}

SamplingQuestion sampling_question(const Values& values) {
  SamplingQuestion question;
  question.temperatures = numbers_of<double>(values, "temperature", 0, max_temperature);
  question.top_k = numbers_of<std::int32_t>(values, "top-k", 0, 1e8);
  question.top_p = numbers_of<double>(values, "top-p", 1e-6, 1);
  question.draft_temperatures = numbers_of<double>(values, "draft-temperature", 0, max_temperature);
  question.gamma = static_cast<int>(checked_count(values, "gamma", 1, max_block));
  question.confidence = confidence_option(values);
  return question;
}

Model table_of(const Values& values, const char* option) {
  const ExactRows rows = parse_rows(values.text(option), std::string("--") + option);
  std::vector<double> probabilities;
  for (const auto& row : rows) {
    for (const Rational& one : row) probabilities.push_back(static_cast<double>(one));
  }
  const std::size_t vocab = rows.front().size();
  return TableModel(static_cast<std::int32_t>(vocab), table_order(rows.size(), vocab),
                    std::move(probabilities));
}

void refuse_with(const Values& values, const char* given, std::initializer_list<const char*> others) {
  for (const char* other : others) {
    if (values.has(other)) throw UsageError("plan sampling: --{} does not go with {}", other, given);
  }
}

SamplingSource source_of(const Values& values, int gamma) {
  const TextSize size{ranged_option<std::uint32_t>(values, "sequences", 1, 100'000),
                      ranged_option<std::uint32_t>(values, "tokens", 2, 100'000)};
  if (values.has("config")) {
    refuse_with(values, "a config", {"recording", "draft-recording", "target", "draft"});
    const std::string& file = values.text("config");
    const auto config = load_config(file, values);
    return in_file(file, [&] { return sampling_source(*config, size, gamma); });
  }
  if (values.has("recording")) {
    refuse_with(values, "--recording", {"target", "draft", "set", "seed"});
    return sampling_source_of_recording(values.text("recording"),
                                        values.has("draft-recording") ? values.text("draft-recording") : "",
                                        checked_number(values, "text-temperature", 0, max_temperature));
  }
  if (!values.has("target") || !values.has("draft")) {
    throw UsageError(
        "plan sampling: give a CONFIG.json, --recording FILE, or --target ROWS and --draft ROWS");
  }
  refuse_with(values, "--target", {"draft-recording", "set", "seed"});
  const Model target = table_of(values, "target");
  const Model draft = table_of(values, "draft");
  if (target.vocab() != draft.vocab()) {
    throw UsageError("--target has {} tokens and --draft {}; rows are over one vocabulary", target.vocab(),
                     draft.vocab());
  }
  return sampling_source(target, draft, SimulationSize{}, size, gamma);
}

std::optional<PlanAnswer> answer_sampling(const Values& values, const Control& control) {
  const SamplingQuestion question = sampling_question(values);
  const ThreadLimit limit(thread_option(values));
  const SamplingSource source = source_of(values, question.gamma);
  const std::optional<SamplingPlan> plan = plan_sampling(source, question, control);
  if (!plan) return std::nullopt;
  PlanAnswer answer = answer_of(*plan, sampling_text, sampling_headline, sampling_figures);
  for (const char* input : {"config", "recording"}) {
    if (values.has(input)) answer.input = values.text(input);
  }
  return answer;
}

}  // namespace

PlanWay plan_sampling() {
  Verb verb{
      .name = "sampling",
      .sentence = "find how a draft should sample, for targets at a temperature, with top-k or top-p",
      .line = "speclab plan sampling CONFIG.json | --recording FILE | --target ROWS --draft ROWS [options]",
      .about =
          R"(Computes acceptance and tokens per target step of exact match, token and block verification for several ways of drafting:
the draft's argmax, sampling as the target samples, sampling without the target's top-k and top-p, and sampling at other
temperatures. The best temperature is the one with the largest mean of sum min(p, q).)",
      .examples = R"(  speclab plan sampling --target .5,.3,.2 --draft .4,.5,.1 --temperature 0.5,1
  speclab plan sampling configs/exact_markov.json --temperature 1 --top-k 2
  speclab plan sampling --recording configs/recorded/austen_rows.jsonl --temperature 0.2,0.6,1
)",
      .positional = "config",
      .optional_positional = true};
  verb.section("Models");
  verb.add<std::string>("recording FILE", "a text with rows of both models, instead of a config");
  verb.add<std::string>("draft-recording FILE", "recording of the draft, if each file holds one model");
  verb.add_value("text-temperature", number_or(1), "temperature at which the recorded text was drawn");
  verb.add<std::string>("target ROWS", "rows of the target, instead of a config: .5,.5 or .9,.1;.2,.8");
  verb.add<std::string>("draft ROWS", "rows of the draft");
  verb.section("Question");
  verb.add<std::string>("temperature NUMBER,...", "1", "temperatures of the target");
  verb.add<std::string>("top-k INTEGER,...", "0", "top-k of the target; 0: all");
  verb.add<std::string>("top-p NUMBER,...", "1", "top-p of the target");
  verb.add<std::string>("draft-temperature NUMBER,...", "further temperatures of the draft to try");
  verb.add_value("gamma", number_or(5), "drafted tokens");
  verb.section("Simulation");
  verb.add<std::uint32_t>("sequences", 32,
                          "texts to draw if the pair has too many contexts for exact numbers");
  verb.add<std::uint32_t>("tokens", 32, "tokens of each text");
  add_config_options(verb);
  add_answer_options(verb);
  return {verb, answer_sampling};
}

}  // namespace speclab
