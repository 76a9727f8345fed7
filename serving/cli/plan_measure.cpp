#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/base/command/options.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/catalog/models/gguf.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/run/until.hpp"
#include "experiments/studies/walltime/measured_pair.hpp"
#include "serving/advisor/recording_plan.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"

namespace speclab {

namespace {

/// Returns the given config, or one for two GGUF files, to be timed.
Config config_to_measure(const Values& values) {
  Config config;
  if (values.has("config")) {
    refuse_given(values, {"prompt"}, "the config has its own, /simulation/prompt, which --set changes");
    config = *load_config(values.text("config"), values);
    if (!config.models) throw ConfigError("/models", "missing: there are no models to measure");
  } else {
    refuse_given(values, {"set"}, "it changes a CONFIG.json");
    if (const auto seed = values.given<std::int64_t>("seed")) config.seed = static_cast<std::uint64_t>(*seed);
    const auto neural = [](const std::string& path) {
      return read(kind_of(model_family()), Json{{"kind", "gguf"}, {"file", path}}, "");
    };
    config.models = ModelPair{neural(values.text("target")), neural(values.text("draft"))};
    config.simulation.prompt = values.text("prompt");
  }
  config.models->target = for_the_clock(config.models->target);
  config.models->draft = for_the_clock(config.models->draft);
  return config;
}

MeasuredCost cost_of_runs(const std::vector<double>& seconds, double batch) {
  constexpr double milli = 1e3;
  std::vector<MeasuredPoint> points;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    points.push_back({static_cast<double>(i) + 1, batch, milli * seconds[i]});
  }
  return MeasuredCost(points);
}

std::optional<PlanAnswer> answer_measure(const Values& values, const Control& control) {
  const PlanSettings settings = plan_settings(values);
  const bool has_files = values.has("target") && values.has("draft");
  if (values.has("config") == has_files || (values.has("target") != values.has("draft"))) {
    throw UsageError("plan measure: give either CONFIG.json, or --target and --draft, GGUF files");
  }
  constexpr double max_batch = 64;
  const double batch = settings.at.batch;
  if (batch > max_batch || batch != std::floor(batch)) {
    throw UsageError("--batch {:g}: 1 to {:g} texts are decoded together", batch, max_batch);
  }
  const ThreadLimit limit(thread_option(values));
  const std::string file = values.has("config") ? values.text("config") : "";
  std::vector<std::string> inputs;
  const auto measured = in_file(file, [&] {
    const Config config = config_to_measure(values);
    if (!file.empty()) config_type().type->add_input_files(&config, inputs);
    refuse_many_cells(config, "plan measure takes");
    refuse_until(config, "plan measure decodes as many texts as --texts says");
    const PairMeasurement how{.tokens = checked_count(values, "tokens", 2, 1e6),
                              .texts = static_cast<std::uint32_t>(checked_count(values, "texts", 1, 1e6)),
                              .positions = static_cast<std::size_t>(settings.max_gamma) + 1,
                              .batches = {static_cast<std::int32_t>(batch)},
                              .clock = ClockKind::wall};
    ModelFactory factory;
    for (const ModelConfig* model : {&config.models->target, &config.models->draft}) {
      if (batch > 1) require_gguf_together(*model, static_cast<std::int32_t>(batch), factory);
    }
    const Setup setup = build_setup(config, factory);
    return measure_pair(setup, how, control);
  });
  if (!measured) return std::nullopt;
  const auto& runs = measured->runs.front();
  PlannedPair pair{.costs = {cost_of_runs(runs.target, batch), cost_of_runs(runs.draft, batch)},
                   .cost_from = "measured here"};
  name_target(values, pair);
  const RecordingPlan plan =
      plan_recording({measured->text.recording, "written by the target"},
                     file.empty() ? "measured here" : file, RecordingRule{}, pair, settings);
  PlanAnswer answer = answer_of(values, plan, recording_plan_text, recording_headline, recording_figures);
  answer.inputs = std::move(inputs);
  return answer;
}

}  // namespace

PlanWay plan_measure() {
  Verb verb{
      .name = "measure",
      .sentence = "plan by running a pair of neural models on this machine",
      .line = "speclab plan measure CONFIG.json | --target FILE.gguf --draft FILE.gguf [options]",
      .about =
          R"(Runs a pair of neural models on this machine and plans with the measured acceptance and costs: the target writes
texts, and the runs of both models are timed.)",
      .examples = R"(  speclab plan measure --target target.gguf --draft draft.gguf
  speclab plan measure configs/neural_smollm2.json --set cases=null
)",
      .positional = "config",
      .optional_positional = true};
  verb.section("Question");
  verb.add<std::string>("target FILE", "GGUF file of the target");
  verb.add<std::string>("draft FILE", "GGUF file of the draft");
  add_batch_option(verb);
  add_max_gamma_option(verb, 12);
  verb.section("Measurement");
  verb.add<std::string>("prompt", "Once upon a time", "beginning of every text");
  verb.add_value("texts", number_or(8), "texts that the target writes");
  verb.add_value("tokens", number_or(64), "tokens of each text");
  add_config_options(verb);
  add_setting_options(verb);
  add_answer_options(verb);
  return {verb, answer_measure};
}

}  // namespace speclab
