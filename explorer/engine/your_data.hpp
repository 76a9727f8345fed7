// Room (view) 5: acceptance from a dropped file, and the plan that follows, by the code of `speclab plan
// --log`.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "explorer/engine/record.hpp"
#include "explorer/engine/your_recording.hpp"
#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/planning.hpp"

namespace speclab::explorer {

namespace detail {

inline const Json& at_path(const Json& document, const std::string& path) {
  const Json::json_pointer pointer(path);
  if (!document.contains(pointer)) {
    throw ConfigError(
        path, "is missing; expected the result.json of speclab run, of an experiment that counts rounds");
  }
  return document.at(pointer);
}

inline double number_at(const Json& document, const std::string& path) {
  const Json& value = at_path(document, path);
  if (!value.is_number()) throw ConfigError(path, "is " + value.dump() + "; expected a number");
  return value.get<double>();
}

inline std::uint64_t count_at(const Json& document, const std::string& path) {
  const double value = number_at(document, path);
  if (!(value >= 0) || value > 9e15 || value != std::floor(value)) {
    throw ConfigError(path, "is " + at_path(document, path).dump() + "; expected a count");
  }
  return static_cast<std::uint64_t>(value);
}

/// Returns acceptance position by position, from the counts of one cell. All rounds of the cell drafted the
/// same number of tokens.
inline AcceptanceFile acceptance_of_cell(const Json& document, std::size_t cell) {
  const std::string path = "/cells/" + std::to_string(cell);
  const std::uint64_t rounds = count_at(document, path + "/counts/rounds");
  const Json& positions = at_path(document, path + "/positions");
  if (!positions.is_array()) throw ConfigError(path + "/positions", "is no list");
  if (count_at(document, path + "/counts/drafted") != rounds * positions.size()) {
    throw ConfigError(
        path + "/counts/drafted",
        "is not rounds times positions; totals need rounds of one length, a log of rounds does not");
  }
  std::vector<std::uint64_t> accepted;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::string position = path + "/positions/" + std::to_string(i) + "/unconditional/value";
    const double share = number_at(document, position);
    const std::uint64_t before = accepted.empty() ? rounds : accepted.back();
    const double count = std::round(share * static_cast<double>(rounds));
    if (!(count >= 0) || count > static_cast<double>(before)) {
      throw ConfigError(position,
                        "is " + at_path(document, position).dump() + ", more than the position before it");
    }
    accepted.push_back(static_cast<std::uint64_t>(count));
  }
  AcceptanceFile log{{}, count_positions(rounds, accepted)};
  if (log.counts.total_examined() == 0) throw ConfigError(path, "no token was drafted");
  return log;
}

/// Returns true if the text is one JSON document, false if each line is one.
inline bool is_document(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') return false;
  return json_line(text.substr(first, text.find('\n', first) - first), "line 1").is_discarded() ||
         json_line(text, "the text").contains("cells");
}

inline void describe_plan(const DrafterPlan& plan, Record& out) {
  interval(out, "alpha", plan.alpha.value);
  out.number("best_gamma", plan.best.gamma);
  interval(out, "best_speedup", plan.best.speedup);
  out.number("tokens_per_target_step", plan.best.tokens_per_target_step);
  const AcceptanceModel by = plan.best.by;
  out.text("by", by == AcceptanceModel::iid         ? "i.i.d."
                 : by == AcceptanceModel::positions ? "positions"
                                                    : "rounds along the logged text");
  out.text("reason", plan.best.reason);
  out.list("near_best", std::vector<int>{plan.best.within_1_percent.low, plan.best.within_1_percent.high});
  out.list("gamma", plan.gammas, &GammaRow::gamma);
  out.list("speedup", plan.gammas, [](const GammaRow& row) { return row.speedup.estimate; });
  out.list("speedup_low", plan.gammas, [](const GammaRow& row) { return row.speedup.low; });
  out.list("speedup_high", plan.gammas, [](const GammaRow& row) { return row.speedup.high; });
  out.number("upper_bound_drafting_paid", plan.bounds.upper_bound_drafting_paid);
  out.texts("advice", plan.advice);
  describe_server_settings(plan.settings, out);
}

inline void describe_log(const LogFindings& log, Record& out) {
  out.number("rounds", static_cast<double>(log.rounds));
  out.number("examined", static_cast<double>(log.examined));
  out.number("accepted", static_cast<double>(log.accepted));
  if (log.alpha_by_stretches) interval(out, "alpha_by_stretches", *log.alpha_by_stretches);
  const auto test = [&](const std::string& name, const LogTest& found) {
    out.list(name, std::vector<double>{found.statistic, static_cast<double>(found.degrees), found.p});
  };
  test("positions_alike", log.positions_alike);
  if (log.rounds_independent) test("rounds_independent", *log.rounds_independent);
  out.number("iid_rejected", log.iid_rejected ? 1 : 0);
  using Position = LogPosition;
  out.list("position_examined", log.positions, &Position::examined);
  out.list("position_accepted", log.positions, &Position::accepted);
  out.list("position_conditional", log.positions, [](const Position& at) { return at.conditional.estimate; });
  out.list("position_low", log.positions, [](const Position& at) { return at.conditional.low; });
  out.list("position_high", log.positions, [](const Position& at) { return at.conditional.high; });
  out.list("position_unconditional", log.positions, &Position::unconditional);
}

}  // namespace detail

/// Writes "choices": the models in a dropped log or the drafters in a recording, among which the user
/// chooses.
inline void names_in_file(const std::string& file, bool has_draft, Record& out) {
  const std::string& text = dropped_files().at(file);
  const bool blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
  std::vector<std::string> names;
  if (!blank && !has_draft && is_recording(file)) {
    names = drafters_in(file);
  } else if (!blank && !has_draft && !detail::is_document(text)) {
    names = models_in(text, file);
  }
  out.texts("choices", names);
}

/// Writes the plan for the acceptances in a dropped file: a recording, a format that `speclab plan log`
/// reads, or a result.json, from which `cell` is taken. `draft` is a second recording or empty. `model` is
/// the model_name in a log of several models, or the drafter's column in a recording of several.
inline void plan_from_file(const std::string& file, const std::string& draft, const std::string& model,
                           std::size_t cell, double c, Record& out) {
  const std::string& text = dropped_files().at(file);
  const bool blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
  const bool recording = !draft.empty() || (!blank && is_recording(file));
  out.number("is_recording", recording ? 1 : 0);
  if (!draft.empty() && !is_recording(file) && !is_recording(draft)) {
    throw UsageError(
        "Two files are a recording of the target and one of the draft, and neither {} nor {} is one. Of two "
        "pages of /metrics, drop one; speclab plan log LATER --since EARLIER plans the rounds between them",
        file, draft);
  }
  if (recording) return plan_from_recording(file, draft, model, c, out);
  AcceptanceFile log;
  const bool document = detail::is_document(text);
  if (document) {
    std::vector<std::string> labels;
    log = in_file(file, [&] {
      const Json result = parse_json(text);
      const Json& cells = detail::at_path(result, "/cells");
      if (!cells.is_array() || cells.empty()) throw ConfigError("/cells", "is no list of cells");
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string label =
            cells[i].is_object() ? cells[i].value("label", std::string()) : std::string();
        labels.push_back(label.empty() ? "cell " + std::to_string(i + 1) : label);
      }
      return detail::acceptance_of_cell(result, std::min(cell, cells.size() - 1));
    });
    out.texts("cells", labels);
  } else {
    log = acceptance_in(text, file, {.model = model});
    if (log.means) {
      throw UsageError(file + ": holds means alone; speclab plan log reads them, this page does not");
    }
  }
  out.number("is_log", document ? 0 : 1);
  PlanSettings settings;
  settings.at = {1, 1024};
  const Drafter drafter{{.costs = {ConstantCost{1}, ConstantCost{c}}, .cost_from = "given"},
                        logged_acceptance(std::move(log), settings.confidence)};
  DrafterPlan plan = make_plan(drafter, settings);
  plan.settings = drafter_settings(drafter, plan);
  detail::describe_plan(plan, out);
  detail::describe_log(*plan.log, out);
}

}  // namespace speclab::explorer
