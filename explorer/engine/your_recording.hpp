// Room (view) 5: the plan from a dropped recording of log-probabilities, by the code of `speclab plan
// recording`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/recording/recording_format.hpp"
#include "explorer/engine/record.hpp"
#include "serving/advisor/recording_plan.hpp"

namespace speclab::explorer {

/// Returns the files that were dropped, by name; code that opens a file (MappedFile) finds them here.
inline std::map<std::string, std::string>& dropped_files() {
  static std::map<std::string, std::string> files;
  return files;
}

/// Returns whether the file is in some format of recordings, or mentions log-probabilities; errors about it
/// are then those of a recording.
inline bool is_recording(const std::string& file) {
  const RecordingSource source(file);
  for (const RecordingFormat& format : recording_formats()) {
    if (format.why_not(source).empty()) return true;
  }
  return source.first_line().find("logp") != std::string_view::npos;
}

inline void interval(Record& out, const std::string& name, const Interval& value) {
  out.list(name, std::vector<double>{value.estimate, value.low, value.high});
}

inline void describe_server_settings(const std::vector<ServerSetting>& settings, Record& out) {
  out.texts("servers", settings,
            [](const ServerSetting& setting) { return setting.server + ", " + setting.checked; });
  out.texts("settings", settings, [](const ServerSetting& setting) {
    std::string joined;
    for (const std::string& line : setting.lines) joined += (joined.empty() ? "" : "\t") + line;
    return joined;
  });
}

/// Writes the plan of a dropped file. `draft` is the name of a second file with the draft's part, or empty;
/// `column` is the drafter in a file of several.
inline void plan_from_recording(const std::string& file, const std::string& draft, const std::string& column,
                                double c, Record& out) {
  const ReadRecording read = read_recording(file, draft, nullptr, column);
  const PlannedPair pair{.costs = {ConstantCost{1}, ConstantCost{c}}, .cost_from = "given"};
  const RecordingPlan plan = plan_recording(read, file, RecordingRule{}, pair, {.at = {1, 1024}});
  out.text("format", plan.format);
  out.number("tokens", static_cast<double>(plan.tokens));
  out.number("sequences", static_cast<double>(plan.sequences));
  std::vector<double> alpha{plan.alpha};
  if (plan.alpha_low && plan.alpha_high) alpha.insert(alpha.end(), {*plan.alpha_low, *plan.alpha_high});
  out.list("alpha", alpha);
  out.text("alpha_from", plan.alpha_from);
  if (plan.optimal_gamma) out.number("best_gamma", *plan.optimal_gamma);
  if (plan.best_speedup) interval(out, "best_speedup", *plan.best_speedup);
  if (plan.within_1_percent)
    out.list("near_best", std::vector<int>{plan.within_1_percent->low, plan.within_1_percent->high});
  if (plan.formula_gamma) out.number("formula_gamma", *plan.formula_gamma);
  if (plan.speedup_at_formula_gamma) out.number("speedup_at_formula_gamma", *plan.speedup_at_formula_gamma);
  out.list("gamma", plan.gammas, &RecordedGamma::gamma);
  out.list("tokens_per_target_step", plan.gammas,
           [](const RecordedGamma& row) { return row.tokens_per_target_step.estimate; });
  out.list("speedup", plan.gammas, [](const RecordedGamma& row) { return row.speedup.estimate; });
  out.list("speedup_low", plan.gammas, [](const RecordedGamma& row) { return row.speedup.low; });
  out.list("speedup_high", plan.gammas, [](const RecordedGamma& row) { return row.speedup.high; });
  out.list("position_unconditional", plan.positions, &RecordedPosition::unconditional);
  out.list("position_conditional", plan.positions, &RecordedPosition::conditional);
  out.texts("tasks", plan.tasks, &RecordedTask::task);
  out.list("task_alphas", plan.tasks, [](const RecordedTask& task) { return task.alpha.estimate; });
  out.list("task_lows", plan.tasks, [](const RecordedTask& task) { return task.alpha.low; });
  out.list("task_highs", plan.tasks, [](const RecordedTask& task) { return task.alpha.high; });
  if (plan.text_fit) {
    out.number("ratio_mean", plan.text_fit->ratio_mean);
    out.texts("fits", std::vector<std::string>{plan.text_fit->not_above_one, plan.text_fit->not_below_one,
                                               plan.text_fit->entropy});
  }
  out.texts("advice", plan.warnings);
  describe_server_settings(plan.settings, out);
}

}  // namespace speclab::explorer
