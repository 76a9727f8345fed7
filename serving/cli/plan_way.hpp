// The ways in which `speclab plan` learns acceptance. Each is a verb in its own file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/command/print_result.hpp"
#include "experiments/results/finding_page.hpp"
#include "serving/advisor/plan_result.hpp"
#include "sim/control.hpp"

namespace speclab {

/// A plan, for a drafter or a recording.
struct PlanAnswer : Finding {
  std::vector<std::string> warnings = {};
  std::optional<std::string> unfit = {};  ///< reason why memory is too small
};

/// Throws UsageError if --server names none that has settings.
void check_server(const Values& values);
/// Leaves out what the options of add_setting_options do not ask for. Throws UsageError for other servers.
void choose_settings(const Values& values, std::vector<ServerSetting>& settings);

/// Returns the answer. If the plan has these members, the answer has the settings of servers that the options
/// ask for, the warnings, with which its text begins, and the reason why memory is too small.
template <class T>
PlanAnswer answer_of(const Values& values, T found, Listing (*text_of)(const T&),
                     std::string (*headline_of)(const T&), std::vector<Figure> (*figures_of)(const T&),
                     const char* title = "A plan for speculative decoding") {
  if constexpr (requires { found.settings; }) choose_settings(values, found.settings);
  PlanAnswer answer{finding_of(title, found, text_of, headline_of, figures_of)};
  if constexpr (requires { found.warnings; }) {
    answer.warnings = found.warnings;
    Listing text;
    for (const std::string& warning : answer.warnings) text += "WARNING: " + warning + "\n";
    answer.text = text += answer.text;
  }
  if constexpr (requires { found.fits_reason; }) answer.unfit = found.fits_reason;
  return answer;
}

struct PlanWay {
  Verb verb;  ///< without `run`: all ways print and write alike
  /// Returns nothing if `control` ended it early. Throws UsageError and ConfigError.
  std::optional<PlanAnswer> (*answer)(const Values& values, const Control& control);
};

PlanWay plan_alpha();
PlanWay plan_log();
PlanWay plan_recording();
PlanWay plan_measure();
PlanWay plan_load();
PlanWay plan_compare();
PlanWay plan_sweep();

/// Returns all ways, in the order of help.
const std::vector<PlanWay>& plan_ways();

}  // namespace speclab
