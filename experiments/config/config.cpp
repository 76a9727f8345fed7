#include "experiments/config/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/distribution/number.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/config/read_keys.hpp"

namespace speclab {

namespace {

class ExperimentType final : public Type {
 public:
  void read(const Json& json, const std::string& path, void* value) const override {
    if (!json.is_string()) reject(path, json, words());
    const Experiment* found = find_experiment(json.get<std::string>());
    if (found == nullptr) {
      throw ConfigError(path, "unknown experiment {}{}", shown(json),
                        suggestion(json.get<std::string>(), entry_names(experiments())));
    }
    *static_cast<const Experiment**>(value) = found;
  }
  void write(const void* value, Json& json) const override {
    json = (*static_cast<const Experiment* const*>(value))->name;
  }
  std::string words() const override { return "the name of an experiment"; }
  void schema(Json& out) const override { out["enum"] = entry_names(experiments()); }
};

/// Reads a prompt: text, or token ids.
class PromptType final : public Type {
 public:
  void read(const Json& json, const std::string& path, void* value) const override {
    auto& prompt = *static_cast<PromptConfig*>(value);
    if (json.is_string()) {
      prompt = json.get<std::string>();
      return;
    }
    if (!json.is_array()) reject(path, json, words());
    std::vector<Token> tokens;
    for (std::size_t i = 0; i < json.size(); ++i) {
      const bool id =
          json[i].is_number_integer() && json[i].get<double>() >= 0 && json[i].get<double>() <= 2147483647.0;
      if (!id) reject(fmt::format("{}/{}", path, i), json[i], "a token id");
      tokens.push_back(json[i].get<Token>());
    }
    prompt = std::move(tokens);
  }
  void write(const void* value, Json& json) const override {
    std::visit([&](const auto& prompt) { json = prompt; }, *static_cast<const PromptConfig*>(value));
  }
  std::string words() const override { return "text or a list of token ids"; }
  void schema(Json& out) const override {
    out["oneOf"] = Json::array({Json{{"type", "string"}},
                                Json{{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 0}}}}});
  }
};

class SharedConfigType final : public Type {
 public:
  void read(const Json& json, const std::string& path, void* value) const override {
    *static_cast<std::shared_ptr<const Config>*>(value) =
        std::make_shared<const Config>(speclab::read(config_type(), json, path));
  }
  void write(const void* value, Json& json) const override {
    json = config_json(**static_cast<const std::shared_ptr<const Config>*>(value));
  }
  std::string words() const override { return config_type().type->words(); }
  void schema(Json& out) const override { config_type().type->schema(out); }
};

Typed<ModelPair> models_type() {
  return object<ModelPair>("models", "Target and draft.",
                           {required(field("target", &ModelPair::target, kind_of(model_family()),
                                           "The model whose distribution the output must have.")),
                            required(field("draft", &ModelPair::draft, kind_of(model_family()),
                                           "The model that proposes tokens."))});
}

Typed<UntilConfig> until_type() {
  return object<UntilConfig>(
      "until",
      "Simulate until an interval is narrow. It is checked (a look) after \"trials\" sequences and after each doubling. Intervals hold jointly over all looks, so stopping early does not invalidate them.",
      {field("metric", &UntilConfig::metric, metric_type(), "Whose interval."),
       required(field("half_width", &UntilConfig::half_width, number_above(0, 1e6),
                      "Largest half-width of the interval.")),
       field("relative", &UntilConfig::relative, boolean(),
             "If true, the half-width is relative to the estimate."),
       with_unit(integer_field("max_rounds", &UntilConfig::max_rounds, 1, 1e13,
                               "The simulation stops before it exceeds this, however wide the interval is."),
                 "rounds (tokens, for acceptance)")});
}

Typed<SimulationConfig> simulation_type() {
  return object<SimulationConfig>(
      "simulation", "How much to simulate.",
      {integer_field("trials", &SimulationConfig::trials, 1, 4294967295.0, "Independent sequences."),
       with_unit(
           integer_field("length", &SimulationConfig::length, 1, 4294967295.0, "Length of each sequence."),
           "rounds (tokens, for acceptance)"),
       integer_field("batches", &SimulationConfig::batches, 2, max_batches,
                     "Most groups of whole trials from which intervals are computed."),
       field("prompt", &SimulationConfig::prompt, Typed<PromptConfig>{std::make_shared<const PromptType>()},
             "Context before the first token: text (with a corpus), or a list of token ids."),
       with_unit(integer_field("prompt_tokens", &SimulationConfig::prompt_tokens, 0, 100000,
                               "Instead of one prompt: this many tokens of the corpus, from a random "
                               "position for each trial."),
                 "tokens"),
       field("until", &SimulationConfig::until, until_type(),
             "Instead of a fixed size: simulate until an interval is narrow.")});
}

Typed<CostRatios> cost_type() {
  return object<CostRatios>(
      "cost", "Cost of one draft run, in target runs.",
      {with_unit(field("c", &CostRatios::c, number(0, 1000), "Time (Leviathan et al. 2023, Definition 3.7)."),
                 "target runs"),
       with_unit(
           field("c_hat", &CostRatios::c_hat, number(0, 1000), "Arithmetic operations (Definition 3.10)."),
           "target runs")});
}

Typed<CaseConfig> case_type() {
  return object<CaseConfig>("case",
                            "One row of a table: the values to set, and the numbers that the paper prints.",
                            {field("label", &CaseConfig::label, text(), "Name of the row."),
                             field("set", &CaseConfig::set, map(any_json()), "Values by JSON pointer."),
                             field("printed", &CaseConfig::printed, map(text()),
                                   "Printed values by metric, as text so that their digits count."),
                             field("measured", &CaseConfig::measured, map(text()),
                                   "Printed measurements by name, shown but not judged."),
                             field("note", &CaseConfig::note, text(), "Remark.")});
}

Typed<FigureConfig> figure_type() {
  return object<FigureConfig>(
      "figure", "A figure of a sweep: formula as lines, simulation as points with intervals.",
      {required(field("title", &FigureConfig::title, text(), "Title.")),
       required(field("x", &FigureConfig::x, text(), "JSON pointer of the horizontal axis.")),
       required(field("y", &FigureConfig::y, metric_type(), "Metric of the vertical axis.")),
       field("series", &FigureConfig::series, text(), "JSON pointer whose values become curves."),
       field("style", &FigureConfig::style,
             choice<FigureStyle>({{"curves", FigureStyle::curves}, {"heat_map", FigureStyle::heat_map}}),
             "Curves, or a heat map of x against series."),
       field("x_label", &FigureConfig::x_label, text(), "Label of the horizontal axis."),
       field("y_label", &FigureConfig::y_label, text(), "Label of the vertical axis."),
       field("series_label", &FigureConfig::series_label, text(), "Label of the legend."),
       field("log_x", &FigureConfig::log_x, boolean(), "Logarithmic horizontal axis."),
       field("log_y", &FigureConfig::log_y, boolean(), "Logarithmic vertical axis."),
       field("log_z", &FigureConfig::log_z, boolean(), "Logarithmic colours of a heat map.")});
}

Typed<InputRounding> rounding_type() {
  return object<InputRounding>(
      "input_rounding", "Half a unit of the last printed digit of the inputs.",
      {field("alpha", &InputRounding::alpha, number(0, 0.1),
             "Half a unit of the last printed digit of alpha."),
       field("c", &InputRounding::c, number(0, 0.1), "Half a unit of the last printed digit of c.")});
}

/// Describes the key of one section; its value is stored in Config::sections.
Field section_field(const SectionKind& section) {
  Field field;
  field.name = section.key;
  field.type = section.type;
  field.sentence = section.type->object()->sentence();
  field.at = [key = section.key](void* config) -> void* {
    auto& sections = static_cast<Config*>(config)->sections;
    const auto found = sections.find(key);
    return found == sections.end() ? nullptr : found->second.address().get();
  };
  field.create = [section](void* config) -> void* {
    return (static_cast<Config*>(config)->sections[section.key] = section.type->object()->make())
        .address()
        .get();
  };
  return field;
}

std::vector<Field> config_fields() {
  std::vector<Field> fields{
      required(field<Config>("title", &Config::title, text(), "Title of tables and of the report.")),
      field<Config>("about", &Config::about, text(), "A paragraph for the report."),
      field<Config>("source", &Config::source, text(), "Where the numbers come from."),
      field<Config>("measured_note", &Config::measured_note, text(),
                    "Why the numbers found here differ from \"measured\" in the cases."),
      field<Config>("experiment", &Config::experiment,
                    Typed<const Experiment*>{std::make_shared<const ExperimentType>()},
                    "Which experiment to run."),
      integer_field<Config>("seed", &Config::seed, 0, 9e15, "Seed of every random number."),
      field("corpus", &Config::corpus, corpus_type(), "Training text."),
      field("models", &Config::models, models_type(), "Target and draft."),
      field("sampling", &Config::sampling, sampling_type(), "Sampling options of both models."),
      field("rule", &Config::rule, kind_of(rule_family()), "How drafted tokens are verified."),
      field(
          "engine", &Config::engine,
          choice<Engine>({{"auto", Engine::automatic}, {"plain", Engine::plain}, {"fast", Engine::fast}}),
          "How decode and optimal_gamma draw tokens: \"plain\" reads whole rows of probabilities; \"fast\" "
          "looks up a few of them, whatever the vocabulary (over stored rows or n-grams, for the rules that "
          "docs/performance.md lists); \"auto\" takes the faster one."),
      field("alpha", &Config::alpha, number(0, 1), "Acceptance rate, in place of models."),
      with_unit(integer_field("gamma", &Config::gamma, 0, 64, "Drafted tokens per round."), "tokens"),
      field("cost", &Config::cost, cost_type(), "Cost of a draft run."),
      field("simulation", &Config::simulation, simulation_type(), "How much to simulate."),
      field<Config>("confidence", &Config::confidence, number_above(0, 0.9999999),
                    "Confidence of every interval."),
      field<Config>("simultaneous", &Config::simultaneous, boolean(),
                    "Widen intervals so that all of this config's hold jointly at the confidence.")};
  for (const SectionKind& section : section_kinds()) fields.push_back(section_field(section));
  fields.push_back(field<Config>("cases", &Config::cases, list(case_type(), 1, 100000), "Explicit rows."));
  fields.push_back(field<Config>(
      "sweep", &Config::sweep, map(any_json()),
      "Values by JSON pointer: a list, {\"from\", \"to\", \"step\"} or {\"from\", \"to\", \"count\"}."));
  fields.push_back(
      field<Config>("metrics", &Config::metrics, list(metric_type(), 1, 32), "Metrics in the table."));
  fields.push_back(field("input_rounding", &Config::input_rounding, rounding_type(),
                         "Rounding of the printed inputs, for judging printed results."));
  fields.push_back(
      field<Config>("figures", &Config::figures, list(figure_type(), 0, 16), "Figures of a sweep."));
  return fields;
}

/// Checks that printed values are numbers. They are text, so that their digits count.
void check_printed(const CaseConfig& one, const std::string& path) {
  for (const auto& [metric, value] : one.printed) {
    const std::string here = fmt::format("{}/{}", path, metric);
    known_metric(metric, here);
    const auto number = parsed<double>(value);
    // std::stod, which reads them later, rejects numbers below 2^-1022.
    if (!number || !(std::isnormal(*number) || *number == 0))
      throw ConfigError(here, "\"{}\" is not a number in quotes, such as \"2.4\"", value);
  }
}

/// Checks the names in a config's tables and figures: each must be a metric, or a path that a case or the
/// sweep sets.
void check_names(const Config& config) {
  std::vector<std::string> varied;
  if (config.sweep) {
    for (const auto& [path, axis] : *config.sweep) varied.push_back(path);
  }
  for (std::size_t i = 0; config.cases && i < config.cases->size(); ++i) {
    const CaseConfig& one = (*config.cases)[i];
    for (const auto& [path, value] : one.set) varied.push_back(path);
    const std::string printed = fmt::format("/cases/{}/printed", i);
    check_printed(one, printed);
    if (one.printed.empty() || config.experiment->judges_printed) continue;
    throw ConfigError(printed, "{} has no formula to judge printed values by; show them as \"measured\"",
                      config.experiment->name);
  }
  for (std::size_t i = 0; config.figures && i < config.figures->size(); ++i) {
    const FigureConfig& figure = (*config.figures)[i];
    for (const auto& [key, path] : {std::pair{"x", figure.x}, std::pair{"series", figure.series}}) {
      if (path.empty() || std::find(varied.begin(), varied.end(), path) != varied.end()) continue;
      throw ConfigError(fmt::format("/figures/{}/{}", i, key), "\"{}\" is not swept and no case sets it",
                        path);
    }
  }
}

const std::map<std::string, AnyStruct>& default_sections() {
  static const std::map<std::string, AnyStruct> all = [] {
    std::map<std::string, AnyStruct> sections;
    for (const SectionKind& section : section_kinds())
      sections.emplace(section.key, section.type->object()->make());
    return sections;
  }();
  return all;
}

}  // namespace

Config::Config(const Config&) = default;
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(const Config&) = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;

Config::Config() {
  experiment = find_experiment("decode");
  if (const RuleKind* token = rule_family().find_entry("token")) rule = selected(*token);
}

const std::string& detail::section_key(bool (*wanted)(const AnyStruct& section)) {
  for (const auto& [key, section] : default_sections()) {
    if (wanted(section)) return key;
  }
  throw std::logic_error("no section of a config has this struct");
}

const AnyStruct& ShownConfig::section_of(const std::string& key) const {
  const auto found = sections.find(key);
  return found != sections.end() ? found->second : default_sections().at(key);
}

void ShownConfig::add_section(const std::string& key) {
  sections.try_emplace(key, default_sections().at(key));
}

const Typed<Config>& config_type() {
  static const Typed<Config> type = object<Config>("config", "A speclab experiment.", config_fields());
  return type;
}

template <>
const Typed<std::shared_ptr<const Config>>& described() {
  static const Typed<std::shared_ptr<const Config>> type{std::make_shared<const SharedConfigType>()};
  return type;
}

const ShownConfig& shown_part(const Config& config) { return config; }

Config read_config(const Json& input) {
  // Editors find the schema by "$schema", programs the format by "format"; neither affects the run.
  if (input.is_object() && (input.contains("$schema") || input.contains("format"))) {
    require_format(input, config_format, "use the program that the config is for");
    if (input.contains("$schema") && !input["$schema"].is_string())
      throw ConfigError("/$schema", "expected the path or URL of a schema");
    Json without = input;
    without.erase("$schema");
    without.erase("format");
    return read_config(without);
  }
  Config config = read(config_type(), input, "");
  require_read_keys(config, input);
  check_names(config);
  config.input = std::make_shared<const Json>(input);
  return config;
}

Json config_json(const Config& config) {
  Json json;
  write(config_type(), config, json);
  return read_part(*config.experiment, std::move(json), has_models(config));
}

const Type* type_at(const std::string& pointer) {
  const Type* type = config_type().type.get();
  for (std::size_t at = 1; type != nullptr && at <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', at), pointer.size());
    type = type->below(pointer.substr(at, end - at));
    at = end + 1;
  }
  return type;
}

void refuse_many_cells(const Config& config, const std::string& what) {
  for (const auto& [key, many] :
       {std::pair{"sweep", config.sweep.has_value()}, std::pair{"cases", config.cases.has_value()}}) {
    if (!many) continue;
    throw ConfigError(std::string("/") + key,
                      "{} one configuration: leave this out with --set {}=null, and choose values with --set",
                      what, key);
  }
}

}  // namespace speclab
