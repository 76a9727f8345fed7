// Lines, cells and a table that printed plans share.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <utility>

#include "analysis/cost/cost_model.hpp"
#include "analysis/cost/speedup_curve.hpp"
#include "analysis/statistics/acceptance_metrics.hpp"
#include "analysis/statistics/intervals.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/page/page_text.hpp"

namespace speclab {

inline std::string plan_line(const std::string& label, const std::string& text) {
  return labelled_line(label, plan_label_width, text);
}

template <class First, class... More>
std::string plan_line(const std::string& label, fmt::format_string<First, More...> text, First&& first,
                      More&&... more) {
  return plan_line(label, fmt::format(text, std::forward<First>(first), std::forward<More>(more)...));
}

/// Returns c in words: "0.02, given", or "0.12 for 7 tokens in one run, roofline".
inline std::string cost_words(double c, const std::optional<int>& in_one_run, const std::string& from) {
  if (!in_one_run) return fmt::format("{:.4g}, {}", c, from);
  return fmt::format("{:.4g} for {} {} in one run, {}", c, *in_one_run, *in_one_run == 1 ? "token" : "tokens",
                     from);
}

/// Returns "2 to 5", or one number if both are printed alike.
inline std::string range_words(const std::string& low, const std::string& high) {
  return low == high ? low : low + " to " + high;
}

inline std::string range_words(const GammaRange& range) {
  return "γ = " + range_words(std::to_string(range.low), std::to_string(range.high));
}

/// Returns "–" for an unknown or infinite number.
inline std::string short_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{:.4g}", *value) : "–";
}

inline Cell short_cell(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return text_cell("–");
  return {short_number(value), *value};
}

template <std::integral T>
Cell plain_count(T count) {
  return {std::to_string(count), static_cast<double>(count)};
}

/// Returns gamma, with an arrow at the best.
inline Cell gamma_cell(int gamma, int best) {
  return {(gamma == best ? "→ " : "") + std::to_string(gamma), static_cast<double>(gamma)};
}

/// Returns "0.75", or "0.752 (0.741 to 0.763)" if the number is estimated. `why` follows if it has no bounds.
inline std::string ranged(const Interval& interval, const std::string& why) {
  if (!interval.bounded()) return fmt::format("{:.4g}, error not known{}", interval.estimate, why);
  const std::string range = range_words(short_number(interval.low), short_number(interval.high));
  const std::string estimate = short_number(interval.estimate);
  return range == estimate ? estimate : fmt::format("{} ({})", estimate, range);
}

/// Returns lines with the expected speedup, the meaning of its interval, and the speedup at other costs.
/// `why` is that of `ranged`.
std::string speedup_lines(const Interval& speedup, const std::optional<SpeedupRange>& at_other_costs,
                          const std::string& why);

/// Returns a table of acceptance by every definition, under the names that servers and papers use. `of_what`
/// goes into the caption: "of the log".
Table metrics_table(const AcceptanceMetrics& metrics, const std::string& of_what);

}  // namespace speclab
