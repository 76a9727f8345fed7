#include "experiments/cli/plan_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/advisor/config_plan.hpp"
#include "experiments/advisor/cost_options.hpp"
#include "experiments/advisor/plan_figures.hpp"
#include "experiments/advisor/planning.hpp"
#include "experiments/advisor/recording_figures.hpp"
#include "experiments/advisor/recording_plan.hpp"
#include "experiments/catalog/models/gguf.hpp"
#include "experiments/cli/finding_page.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/run/cells.hpp"
#include "experiments/run/config.hpp"
#include "experiments/run/until.hpp"
#include "experiments/studies/walltime/measured_pair.hpp"
#include "experiments/support/csv_reader.hpp"
#include "experiments/support/machine.hpp"

namespace speclab {

namespace po = boost::program_options;

namespace {

template <class T>
PlanAnswer answer_of(const T& found, Listing (*text_of)(const T&), std::string (*answer_headline)(const T&),
                     std::vector<Figure> (*answer_figures)(const T&)) {
  return {json_text_of(found), text_of(found), {}, answer_headline(found), answer_figures(found)};
}

constexpr double largest_context = 1e8;

Interval around(double alpha, double standard_error, double confidence) {
  if (standard_error == 0) return {alpha, alpha, alpha};
  const boost::math::normal_distribution<double> normal;
  const double width =
      standard_error * boost::math::quantile(boost::math::complement(normal, (1 - confidence) / 2));
  return {alpha, std::max(alpha - width, 0.0), std::min(alpha + width, 1.0)};
}

PlanSettings settings_of(const po::variables_map& values) {
  PlanSettings settings;
  settings.at.batch = checked_number(values, "batch", 1, 1e6);
  settings.at.context = checked_number(values, "context", 0, largest_context);
  settings.max_gamma = static_cast<int>(checked_number(values, "max-gamma", 1, 1000));
  if (values.count("gamma") > 0) {
    const double asked = checked_number(values, "gamma", 0, settings.max_gamma);
    if (asked != std::floor(asked)) throw UsageError(fmt::format("--gamma {}: expected an integer", asked));
    settings.asked_gamma = static_cast<int>(asked);
  }
  settings.max_batch = static_cast<int>(checked_number(values, "max-batch", 1, 10000));
  settings.memory_share = checked_number(values, "memory-share", 0.01, 1);
  settings.confidence = values["confidence"].as<double>();
  if (!(settings.confidence > 0 && settings.confidence < 1)) {
    throw UsageError(fmt::format("--confidence {}: expected a number between 0 and 1", settings.confidence));
  }
  const auto method = values["method"].as<std::string>();
  const auto named = draft_method_named(method);
  if (!named) {
    throw UsageError(fmt::format("--method {}: expected draft, ngram, eagle, eagle3, mtp or medusa", method));
  }
  settings.method = *named;
  settings.target = target_repository(values);
  return settings;
}

Acceptance given_acceptance(double alpha, double standard_error, double confidence,
                            const std::string& where) {
  if (!(alpha >= 0 && alpha <= 1)) {
    throw UsageError(fmt::format("{}: alpha = {}; expected a number from 0 to 1", where, alpha));
  }
  return {around(alpha, standard_error, confidence), "given"};
}

/// What was said of the log besides its file.
LogOptions log_options(const po::variables_map& values) {
  LogOptions options;
  options.model = values["model"].as<std::string>();
  if (values.count("drafted") > 0) {
    constexpr int most = 1000;
    options.drafted = ranged_option(values, "drafted", 1, most);
  }
  if (values.count("since") > 0) {
    options.earlier_file = values["since"].as<std::string>();
    options.earlier = read_log_text(options.earlier_file);
  }
  if (values.count("fields") > 0) {
    for (const std::string& pair : split(values["fields"].as<std::string>(), ',')) {
      const auto equals = pair.find('=');
      if (equals == 0 || equals == std::string::npos || equals + 1 == pair.size()) {
        throw UsageError(
            fmt::format("--fields: \"{}\"; expected name=column, such as accepted=acc_tokens", pair));
      }
      options.fields[trimmed(pair.substr(0, equals))] = trimmed(pair.substr(equals + 1));
    }
  }
  return options;
}

/// "name:alpha:c", where c may be a model's name.
Drafter drafter_of(const std::string& text, const po::variables_map& values, const PlanSettings& settings) {
  const auto first = text.find(':');
  const auto last = text.rfind(':');
  const auto alpha = first == last ? std::nullopt : number_in(text.substr(first + 1, last - first - 1));
  if (!alpha || first == 0 || last + 1 == text.size()) {
    throw UsageError(fmt::format(
        "--drafter {}: expected name:alpha:c, such as small:0.7:0.02, or a model in place of c", text));
  }
  const KnownCosts costs = costs_of(values, text.substr(last + 1), settings.at);
  return {text.substr(0, first), given_acceptance(*alpha, 0, settings.confidence, "--drafter " + text),
          costs.pair, costs.from};
}

std::optional<PlanAnswer> plan_config(const po::variables_map& values, const PlanSettings& settings,
                                      const Control& control) {
  const auto file = values["config"].as<std::string>();
  const ThreadLimit limit(thread_option(values));
  const Config config = load_config(file, values);
  std::optional<double> c;
  if (values.count("c") > 0) c = checked_number(values, "c", 0, 1000);
  bool partial = false;
  const std::vector<ConfigCase> cases =
      in_file(file, [&] { return config_cases(config, c, settings.confidence, control, partial); });
  if (partial) return std::nullopt;
  if (cases.size() > 1) {
    if (values.count("device") + values.count("target-times") > 0) {
      throw UsageError("a config of several cases is planned with its own c; leave out --device and times");
    }
    return answer_of(compare_choices(cases), comparison_text, comparison_headline, comparison_figures);
  }
  const ConfigCase& only = cases.front();
  Drafter drafter{"", only.acceptance, {ConstantCost{1}, ConstantCost{only.c}}, c ? "given" : "the config"};
  if (values.count("device") + values.count("target-times") > 0) {
    const KnownCosts costs = costs_of(values, "", settings.at);
    drafter = {costs.draft, only.acceptance, costs.pair, costs.from};
  }
  return answer_of(make_plan(drafter, settings), plan_text, plan_headline, plan_figures);
}

PlanAnswer plan_of_recording(const po::variables_map& values, const PlanSettings& settings) {
  const ThreadLimit limit(thread_option(values));
  const auto file = values["recording"].as<std::string>();
  const std::string draft =
      values.count("draft-recording") > 0 ? values["draft-recording"].as<std::string>() : "";
  const std::string column = values.count("column") > 0 ? values["column"].as<std::string>() : "";
  const auto rule_name = values["rule"].as<std::string>();
  if (values.count("gamma") > 0) throw UsageError("--gamma: a recording gives every gamma; see --max-gamma");
  const KnownCosts costs = costs_of(values, "", settings.at);
  const std::optional<AnyRule> rate = rate_rule(rule_name);
  const ReadRecording read = read_recording(file, draft, rate ? &*rate : nullptr, column);
  const RecordingRule rule = recording_rule(rule_name, !read.recording.rows.empty());
  const RecordingPlan plan = plan_recording(read, file, rule, costs.pair, costs.from,
                                            {.at = settings.at,
                                             .max_gamma = settings.max_gamma,
                                             .confidence = settings.confidence,
                                             .cut = values.count("cut") > 0,
                                             .target = settings.target,
                                             .draft = costs.draft,
                                             .method = settings.method});
  PlanAnswer answer = answer_of(plan, recording_plan_text, recording_headline, recording_figures);
  for (const std::string& warning : plan.warnings) answer.warnings.push_back(file + ": " + warning);
  return answer;
}

/// A config of two GGUF files, or the given one, for the clock.
Config config_to_measure(const po::variables_map& values, const std::string& file) {
  Config config;
  if (!file.empty()) {
    config = load_config(file, values);
    if (!config.models) throw UsageError(file + ": has no models to measure");
  } else {
    const auto neural = [](const std::string& path) {
      return read(kind_of(model_family()), Json{{"kind", "gguf"}, {"file", path}}, "");
    };
    if (values.count("draft") == 0)
      throw UsageError("--measure: give --draft FILE.gguf as well, or --config");
    config.models =
        ModelPair{neural(values["model"].as<std::string>()), neural(values["draft"].as<std::string>())};
    config.simulation.prompt = values["prompt"].as<std::string>();
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

std::optional<PlanAnswer> plan_measured(const po::variables_map& values, const PlanSettings& settings,
                                        const Control& control) {
  for (const char* option : {"c", "device", "target", "target-times", "draft-times", "gamma"}) {
    if (values.count(option) > 0) {
      throw UsageError(
          fmt::format("--{}: with --measure costs and every gamma are measured; leave it out", option));
    }
  }
  constexpr double most_batch = 64;
  const double batch = settings.at.batch;
  if (batch > most_batch || batch != std::floor(batch)) {
    throw UsageError(
        fmt::format("--batch {:g}: --measure decodes 1 to {:g} texts together", batch, most_batch));
  }
  const ThreadLimit limit(thread_option(values));
  const auto file = values.count("config") > 0 ? values["config"].as<std::string>() : std::string();
  constexpr int usual_gammas = 12;
  const int most = values["max-gamma"].defaulted() ? usual_gammas : settings.max_gamma;
  const auto measured = in_file(file, [&] {
    const Config config = config_to_measure(values, file);
    refuse_many_cells(config, "--measure takes");
    refuse_until(config, "--measure decodes as many texts as --texts says");
    ModelFactory factory;
    for (const ModelConfig* model : {&config.models->target, &config.models->draft}) {
      if (batch > 1) require_gguf_together(*model, static_cast<std::int32_t>(batch), factory);
    }
    const Setup setup = build_setup(config, factory);
    return measure_pair(setup,
                        {.tokens = static_cast<std::size_t>(checked_number(values, "tokens", 2, 1e6)),
                         .texts = static_cast<std::uint32_t>(checked_number(values, "texts", 1, 1e6)),
                         .positions = static_cast<std::size_t>(most) + 1,
                         .batches = {static_cast<std::int32_t>(batch)},
                         .clock = ClockKind::wall},
                        control);
  });
  if (!measured) return std::nullopt;
  RecordingPlanSettings of_text;
  of_text.at = settings.at;
  of_text.max_gamma = most;
  of_text.confidence = settings.confidence;
  const RecordingPlan plan = plan_recording(
      {measured->text.recording, "written by the target"}, file.empty() ? "measured here" : file,
      recording_rule("token", false),
      {cost_of_runs(measured->runs.front().target, batch), cost_of_runs(measured->runs.front().draft, batch)},
      "measured here", of_text);
  return answer_of(plan, recording_plan_text, recording_headline, recording_figures);
}

}  // namespace

Usage plan_usage() {
  Usage usage{
      .line =
          "speclab plan (--alpha A | --log FILE | --recording FILE | --config CONFIG.json | --drafter N:A:C "
          "...) "
          "[costs]",
      .about =
          R"(Plans speculative decoding: the best drafter and number of drafted tokens, the expected speedup,
the batch beyond which it stops paying, and settings for five servers.

Acceptance: a number; a server's log (of vLLM, SGLang, TensorRT-LLM, llama.cpp, MLX or Hugging Face, or a
line "drafted,accepted" a round; --list-logs shows all formats), of which alpha is estimated by
maximum likelihood, and whether it is alike at all positions is tested; a recording of a text with
log-probabilities under target and draft, from which every gamma follows exactly; a config, whose models
give alpha exactly or are run; or several drafters to compare.
Costs: --c; a roofline of two models on a device; measured times; or --measure, which runs neural models here.
A config of several cases gets one row per case: its gamma beside the best. For Table 2 of Leviathan
et al. 2023: speclab plan --config configs/paper/table2-4.json)",
      .examples = R"(  speclab plan --alpha 0.75 --c 0.02
  speclab plan --alpha 0.75 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4
  speclab plan --log accept.csv --c 0.02
  speclab plan --log after.prom --since before.prom --model meta-llama/Llama-3.3-70B-Instruct --c 0.02
  speclab plan --log rounds.jsonl.gz --fields accepted=acc_tokens,drafted=usage.draft --c 0.02
  speclab plan --recording recorded.csv --c 0.05
  speclab plan --recording target.json --draft-recording draft.json --c 0.05
  speclab plan --config configs/austen_words.json
  speclab plan --model target.gguf --draft draft.gguf --measure
  speclab plan --config configs/paper/table2-4.json
  speclab plan --drafter small:0.7:0.02 --drafter large:0.8:0.11
)"};
  usage.options.add_options()("alpha", po::value<double>(), "acceptance rate, 0 to 1")(
      "alpha-se", po::value<double>()->default_value(0, "0"), "its standard error")(
      "log", po::value<std::string>(),
      "acceptance as a server logged it, in a format of --list-logs; may be compressed by gzip; - is the "
      "standard input")("since", po::value<std::string>(),
                        "an earlier page of the same counters, which is subtracted from --log")(
      "fields", po::value<std::string>(),
      "columns or keys of a log, such as accepted=acc_tokens,drafted=usage.draft; also emitted (accepted and "
      "one "
      "more a round), rounds, model")("drafted", po::value<int>(),
                                      "tokens drafted a round, of a log that does not say")(
      "model", po::value<std::string>()->default_value(""),
      "the model_name, of a log of several; with --measure the target, a GGUF file")(
      "measure", "measure models here: those of --config, or the GGUF files of --model and --draft")(
      "prompt", po::value<std::string>()->default_value("Once upon a time"),
      "with --measure: what texts begin with")("texts", po::value<double>()->default_value(8, "8"),
                                               "with --measure: texts that the target writes")(
      "tokens", po::value<double>()->default_value(64, "64"), "with --measure: tokens of each")(
      "recording", po::value<std::string>(), "text with log-probabilities or rows (docs/recordings.md)")(
      "draft-recording", po::value<std::string>(), "the draft's, where files hold one model each")(
      "column", po::value<std::string>(), "the drafter NAME of its column logq.NAME, of a file with several")(
      "rule", po::value<std::string>()->default_value("token"),
      "of a recording: token or block; of rows any")(
      "cut", "the recording's target was cut: top-k, top-p, temperature 0")(
      "config", po::value<std::string>(), "config of models or cases")(
      "drafter", po::value<std::vector<std::string>>()->composing(), "name:alpha:c, or name:alpha:model")(
      "batch", po::value<double>()->default_value(1, "1"), "sequences decoded together")(
      "context", po::value<double>()->default_value(1024, "1024"), "tokens before the new ones")(
      "method", po::value<std::string>()->default_value("draft"),
      "for the settings: draft (a model), ngram (copied from the text), eagle, eagle3, mtp (the target's own "
      "modules) or medusa")("gamma", po::value<double>(), "a gamma to compare with the best")(
      "max-gamma", po::value<double>()->default_value(64, "64"), "largest gamma considered")(
      "max-batch", po::value<double>()->default_value(512, "512"), "largest batch considered")(
      "memory-share", po::value<double>()->default_value(0.9, "0.9"), "of the device's memory, usable")(
      "confidence", po::value<double>()->default_value(0.95, "0.95"), "of intervals");
  add_cost_options(usage.options);
  add_config_options(usage.options);
  usage.options.add_options()("list-devices", "the devices known, with their sources")(
      "list-models", "the models known, with their sources")(
      "list-options", "the servers' options that are printed, with their sources")(
      "list-logs", "the formats of logs that --log reads, with a sample of each")("json", "print JSON");
  add_page_option(usage.options);
  return usage;
}

std::optional<PlanAnswer> plan_answer(const po::variables_map& values, const Control& control) {
  const PlanSettings settings = settings_of(values);
  if (values.count("measure") > 0) {
    for (const char* option : {"alpha", "log", "recording", "drafter"}) {
      if (values.count(option) > 0) {
        throw UsageError(
            fmt::format("--{}: with --measure the acceptance is that of the models; leave it out", option));
      }
    }
    if ((values.count("config") > 0) == !values["model"].as<std::string>().empty()) {
      throw UsageError("--measure: give either --config CONFIG.json, or --model and --draft, GGUF files");
    }
    return plan_measured(values, settings, control);
  }
  for (const char* option : {"prompt", "texts", "tokens"}) {
    if (!values[option].defaulted()) throw UsageError(fmt::format("--{} goes with --measure", option));
  }
  if (values.count("alpha") + values.count("log") + values.count("config") + values.count("drafter") +
          values.count("recording") !=
      1) {
    throw UsageError(
        "give one of --alpha, --log, --recording, --config and --drafter: where acceptance is known from");
  }
  for (const char* option : {"draft-recording", "column", "cut"}) {
    if (values.count(option) > 0 && values.count("recording") == 0) {
      throw UsageError(fmt::format("--{} goes with --recording", option));
    }
  }
  if (!values["rule"].defaulted() && values.count("recording") == 0) {
    throw UsageError("--rule goes with --recording; a config has its own");
  }
  const auto model = values["model"].as<std::string>();
  for (const char* option : {"since", "fields", "drafted"}) {
    if (values.count(option) > 0 && values.count("log") == 0) {
      throw UsageError(fmt::format("--{} goes with --log", option));
    }
  }
  if (!model.empty() && values.count("log") == 0) throw UsageError("--model goes with --log or --measure");
  if (values.count("config") == 0 && values.count("seed") + values.count("set") > 0) {
    throw UsageError("--seed and --set change a config; there is none");
  }
  const double standard_error = checked_number(values, "alpha-se", 0, 1);
  if (standard_error > 0 && values.count("alpha") == 0) throw UsageError("--alpha-se goes with --alpha");
  if (values.count("config") > 0) return plan_config(values, settings, control);
  if (values.count("recording") > 0) return plan_of_recording(values, settings);
  if (values.count("drafter") > 0) {
    if (values.count("c") + values.count("draft") + values.count("draft-times") > 0) {
      throw UsageError("--drafter says what each draft costs; leave out --c, --draft and --draft-times");
    }
    std::vector<Drafter> drafters;
    for (const std::string& text : values["drafter"].as<std::vector<std::string>>()) {
      drafters.push_back(drafter_of(text, values, settings));
    }
    return answer_of(rank_drafters(drafters, settings), ranking_text, ranking_headline, ranking_figures);
  }
  const KnownCosts costs = costs_of(values, "", settings.at);
  const Acceptance acceptance =
      values.count("log") > 0
          ? logged_acceptance(read_acceptance(values["log"].as<std::string>(), log_options(values)),
                              settings.confidence)
          : given_acceptance(values["alpha"].as<double>(), standard_error, settings.confidence, "--alpha");
  const DrafterPlan plan = make_plan({costs.draft, acceptance, costs.pair, costs.from}, settings);
  PlanAnswer answer = answer_of(plan, plan_text, plan_headline, plan_figures);
  answer.warnings = plan.warnings;
  return answer;
}

}  // namespace speclab
