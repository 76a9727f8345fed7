// States the result in a sentence.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "experiments/base/page/cells.hpp"
#include "experiments/config/cells.hpp"
#include "experiments/results/metric_tables.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/printed_numbers.hpp"

namespace speclab {

namespace {

/// Returns a text such as "speedup 2.991 ± 0.003 (formula 2.99)".
std::string one_cell(const CellResult& cell, Metric metric) {
  const Interval* simulated = find(cell.simulated, metric);
  const std::optional<double> formula = value_of(cell.formula, metric);
  if (simulated == nullptr && !formula) return "";
  std::string text = fmt::format("{} {}", metric_label(metric),
                                 simulated != nullptr ? interval_text(*simulated) : number_text(*formula));
  if (simulated != nullptr && formula) text += fmt::format(" (formula {})", number_text(*formula));
  return text;
}

/// Returns a text such as "speedup from 0.6 (α = 0.1, γ = 10) to 4.1 (α = 0.9, γ = 5)".
std::string range_text(const Result& result, Metric metric) {
  const CellResult* least = nullptr;
  const CellResult* most = nullptr;
  for (const CellResult& cell : result.cells) {
    const auto value = estimate_of(cell, metric);
    if (!value) continue;
    if (least == nullptr || *value < *estimate_of(*least, metric)) least = &cell;
    if (most == nullptr || *value > *estimate_of(*most, metric)) most = &cell;
  }
  if (least == nullptr || least == most) return "";
  const auto at = [&](const CellResult& cell) {
    return fmt::format("{} ({})", number_text(*estimate_of(cell, metric)), cell_name(result.shown(), cell));
  };
  return fmt::format("{} from {} to {}", metric_label(metric), at(*least), at(*most));
}

}  // namespace

std::string metric_headline(const Result& result, const Timings&) {
  PrintedNumbers printed;
  printed.add(result);
  std::string text = printed.sentence();
  const auto& drawn = result.shown().figures;
  const Metric metric =
      drawn && !drawn->empty() ? drawn->front().y : presentation_of(result.shown()).metrics.figure;
  std::string found;
  if (result.cells.size() == 1) {
    const CellResult& cell = result.cells.front();
    found = one_cell(cell, metric);
    const std::string tokens = one_cell(cell, Metric::tokens_per_target_step);
    if (!found.empty() && !tokens.empty() && metric != Metric::tokens_per_target_step) found += "; " + tokens;
  } else if (std::ranges::all_of(result.cells, [](const CellResult& cell) { return cell.verdict.empty(); })) {
    // Verdicts on printed numbers would say more than the range.
    found = range_text(result, metric);
  }
  if (!found.empty()) {
    char& first = found.front();
    if (first >= 'a' && first <= 'z') first = static_cast<char>(first - 'a' + 'A');
    found += text.empty() ? "." : ". ";
  }
  if (result.partial) text += text.empty() ? "Interrupted: partial." : " Interrupted: partial.";
  return found + text;
}

}  // namespace speclab
