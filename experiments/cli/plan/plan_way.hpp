// The ways in which `speclab plan` may know acceptance: each a verb of its own, in a file of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/cli/print_result.hpp"
#include "experiments/cli/verb.hpp"
#include "experiments/page/figure.hpp"
#include "experiments/page/table.hpp"
#include "sim/control.hpp"

namespace speclab {

/// The plan of whatever was asked for: of a drafter, several, a recording, or a config of several cases.
struct PlanAnswer {
  std::string json;
  Listing text;                 ///< for people
  std::string headline;         ///< what was found, in a sentence
  std::vector<Figure> figures;  ///< of its page
  std::vector<std::string> warnings = {};
  std::string input = {};                 ///< the file that acceptance is known from; empty for none
  std::optional<std::string> unfit = {};  ///< why the device's memory does not hold what was asked for
};

template <class T>
PlanAnswer answer_of(const T& found, Listing (*text_of)(const T&), std::string (*headline_of)(const T&),
                     std::vector<Figure> (*figures_of)(const T&)) {
  return {json_text_of(found), text_of(found), headline_of(found), figures_of(found)};
}

struct PlanWay {
  Verb verb;  ///< without `run`: all ways print and write their answer alike
  /// None when `control` ended it early. Throws UsageError and ConfigError.
  std::optional<PlanAnswer> (*answer)(const Values& values, const Control& control);
};

PlanWay plan_alpha();
PlanWay plan_drafters();
PlanWay plan_log();
PlanWay plan_recording();
PlanWay plan_config();
PlanWay plan_measure();
PlanWay plan_load();
PlanWay plan_benchmark();
PlanWay plan_sampling();
PlanWay plan_tree();

/// All of them, in the order of help.
const std::vector<PlanWay>& plan_ways();

/// The words after `speclab plan` as they are spelled now. Until the next release it was one verb whose
/// options said where acceptance is known from: "--alpha 0.8" is "alpha 0.8" now, "--list-devices" is "list
/// devices".
Words present_plan_words(const Words& words);

}  // namespace speclab
