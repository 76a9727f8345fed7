// The part of a config that tables, figures and pages read. It does not affect what is simulated, so that
// code that shows results is not recompiled when simulations change.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/format/any_struct.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/config/metric.hpp"

namespace speclab {

struct Config;
struct Experiment;

/// One of a config's "cases": the values that it sets, and the values that the paper prints.
struct CaseConfig {
  std::string label;
  OrderedMap<std::shared_ptr<const Json>> set;  ///< values by JSON pointer
  OrderedMap<std::string> printed;              ///< by metric; text, because its digits count
  OrderedMap<std::string> measured;
  std::string note;
};

/// Returns the column of tables for a name in "measured": "paper: T5-XXL EnDe" becomes
/// measured_paper_T5_XXL_EnDe.
std::string measured_column(const std::string& name);

/// A section: a part of a config that one experiment or verb reads. Each has a line in all_experiments.cpp.
struct SectionKind {
  std::string key;
  TypePtr type;
  bool of_verb = false;  ///< a verb reads it, of configs of any experiment with models
};
/// Returns the list of all sections; tests and other programs may add some.
std::vector<SectionKind>& section_kinds();

namespace detail {
const std::string& section_key(bool (*wanted)(const AnyStruct& section));
}
/// Returns the key of the section whose struct is T.
template <class T>
const std::string& section_key() {
  return detail::section_key([](const AnyStruct& section) { return section.is<T>(); });
}

/// The section "search": the range of gamma that the experiment optimal_gamma and `speclab exact` search.
struct SearchSection {
  std::int32_t max_gamma = 16;  ///< largest gamma tried
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

struct ShownConfig {
  std::string title;
  std::string about;
  std::string source;
  std::optional<std::string>
      measured_note;                       ///< reason why results differ from the "measured" values of cases
  const Experiment* experiment = nullptr;  ///< never null in a Config
  std::uint64_t seed = 1;
  double confidence = 0.95;
  bool simultaneous = false;
  std::map<std::string, AnyStruct> sections;  ///< by key; those that the config gives
  std::optional<std::vector<CaseConfig>> cases;
  std::optional<OrderedMap<std::shared_ptr<const Json>>>
      sweep;  ///< axes by JSON pointer, each a list or a range
  std::optional<std::vector<Metric>> metrics;
  std::optional<std::vector<FigureConfig>> figures;

  /// Returns the section whose struct is T, or its defaults.
  template <class T>
  const T& section() const {
    return section_of(section_key<T>()).template as<T>();
  }
  /// Adds a section that the config leaves out, with its defaults, so that results include it.
  void add_section(const std::string& key);

 private:
  const AnyStruct& section_of(const std::string& key) const;
};

/// Returns the shown part, for code that sees only a declaration of Config.
const ShownConfig& shown_part(const Config& config);

}  // namespace speclab
