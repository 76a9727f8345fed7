// A config as plain structs: what a JSON file says, checked, with every default. Nothing behind reads JSON.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "analysis/statistics/estimates.hpp"
#include "core/token.hpp"
#include "experiments/catalog/models/corpus_config.hpp"
#include "experiments/catalog/models/model_kind.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/format/fields.hpp"
#include "experiments/run/metric.hpp"

namespace speclab {

struct Experiment;

struct ModelPair {
  ModelConfig target;
  ModelConfig draft;
};

/// Text, or token ids.
using PromptConfig = std::variant<std::vector<Token>, std::string>;

/// How narrow an interval is to be before a simulation ends.
struct UntilConfig {
  Metric metric = Metric::speedup;
  double half_width = 0;  ///< of the metric's interval
  bool relative = false;  ///< half_width is a part of the estimate
  std::uint64_t most_rounds = 1'000'000'000;
};

/// How much to simulate.
struct SimulationConfig {
  std::uint32_t trials = 64;    ///< independent sequences
  std::uint32_t length = 2000;  ///< rounds in each (tokens, for acceptance)
  std::uint32_t batches = 64;   ///< groups of whole trials that intervals come from
  PromptConfig prompt;
  std::int32_t prompt_tokens = 0;    ///< instead of one prompt: tokens of the corpus, for each trial
  std::optional<UntilConfig> until;  ///< then `trials` is how many there are before the first look
};

enum class Engine { automatic, plain, fast };

/// One row of a table: what to set, and what the paper prints.
struct CaseConfig {
  std::string label;
  OrderedMap<std::shared_ptr<const Json>> set;  ///< values by JSON pointer
  OrderedMap<std::string> printed;              ///< by metric, as text so that digits count
  OrderedMap<std::string> measured;
  std::string note;
};

/// Half a unit of the last printed digit of the inputs.
struct InputRounding {
  double alpha = 0;
  double c = 0;
};

enum class FigureStyle { curves, heat_map };

/// A figure of a sweep.
struct FigureConfig {
  std::string title;
  std::string x;  ///< JSON pointer
  Metric y = Metric::speedup;
  std::string series;  ///< JSON pointer; empty: one curve
  FigureStyle style = FigureStyle::curves;
  std::string x_label, y_label, series_label;
  bool log_x = false, log_y = false, log_z = false;
};

/// A part of the config that one experiment or verb reads: its key, and the description of its struct. One
/// line in all_sections.cpp each.
struct SectionKind {
  std::string key;
  TypePtr type;
  std::vector<std::string> aliases = {};
};
/// Every section; tests and other programs may add some.
std::vector<SectionKind>& section_kinds();
const SectionKind& section_kind(const std::string& key);

namespace detail {
const std::string& section_key(bool (*wanted)(const AnyStruct& section));
}
/// The key of the section whose struct is T.
template <class T>
const std::string& section_key() {
  return detail::section_key([](const AnyStruct& section) { return section.is<T>(); });
}

/// What copies and destroys it is compiled once.
struct Config {
  Config();
  Config(const Config&);
  Config(Config&&) noexcept;
  Config& operator=(const Config&);
  Config& operator=(Config&&) noexcept;
  ~Config();

  std::string title;
  std::string about;
  std::string source;
  std::optional<std::string> measured_note;  ///< why what is found differs from the "measured" of cases
  const Experiment* experiment;              ///< decode unless the config says otherwise
  std::uint64_t seed = 1;
  std::optional<CorpusConfig> corpus;
  std::optional<ModelPair> models;
  Adjustment sampling;
  RuleConfig rule;  ///< token verification unless the config says otherwise
  Engine engine = Engine::automatic;
  std::optional<double> alpha;
  std::int32_t gamma = 5;
  CostRatios cost;
  SimulationConfig simulation;
  double confidence = 0.95;
  bool simultaneous = false;
  std::map<std::string, AnyStruct> sections;  ///< by key; those that the config has
  std::optional<std::vector<CaseConfig>> cases;
  std::optional<OrderedMap<std::shared_ptr<const Json>>> sweep;  ///< axes by JSON pointer: a list, or a range
  std::optional<std::vector<Metric>> metrics;
  std::optional<InputRounding> input_rounding;
  std::optional<std::vector<FigureConfig>> figures;
  /// What read_config read this from: cells set values in it by path. Null for configs made otherwise.
  std::shared_ptr<const Json> input;

  /// The section whose struct is T, or its defaults.
  template <class T>
  const T& section() const {
    return section_of(section_key<T>()).template as<T>();
  }
  /// Adds the defaults of a section that the config leaves out, as results carry it.
  void add_section(const std::string& key);

 private:
  const AnyStruct& section_of(const std::string& key) const;
};

/// The description of the whole format. Kinds, experiments and sections are registered before its first use.
const Typed<Config>& config_type();

/// A config as JSON with present names: aliases of keys, kinds and metrics replaced, also in the paths and
/// values of "cases" and "sweep". `uses` receives what was replaced.
Json with_present_names(const Json& input, std::vector<RenamedUse>& uses);

/// A JSON pointer into a config with present names.
std::string with_present_names(const std::string& pointer);

/// Reads and checks a config with present names. Throws ConfigError for unknown keys, wrong types, values out
/// of range and missing keys, with the JSON path.
Config read_config(const Json& input);

Json config_json(const Config& config);

/// For verbs that look at one configuration: throws ConfigError for a config that stands for many. `what`
/// says who does what: "check tests".
void refuse_many_cells(const Config& config, const std::string& what);

}  // namespace speclab
