#include "experiments/studies/walltime/clocked_models.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/recorded/expected_rounds.hpp"
#include "analysis/recorded/recording_estimates.hpp"
#include "analysis/statistics/intervals.hpp"
#include "analysis/theory/theorems.hpp"
#include "core/stop.hpp"
#include "experiments/base/format/csv_values.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/studies/walltime/measured_pair.hpp"

namespace speclab {

SPECLAB_RESULT(ClockedGamma, "clocked", label, batch, gamma, target_run_milliseconds, verify_run_milliseconds,
               draft_run_milliseconds, c, verify_cost, alpha, expected_tokens, tokens_per_target_step,
               round_time, printed_speedup, corrected_speedup, predicted_speedup, predicted_low,
               predicted_high, played_speedup, speedup, speedup_low, speedup_high, plain_tokens_per_second,
               speculative_tokens_per_second);

SPECLAB_RESULT(WalltimeTimings, "walltime timings", clocked);

namespace {

struct TextAcceptance {
  double alpha = 0;
  std::vector<Interval> expected_tokens;  ///< per target step, for gamma = 1, 2, ...
  std::vector<double> whole;              ///< share of rounds that accept every token
};

TextAcceptance acceptance_of(const Recording& recording, std::size_t most, double confidence) {
  TextAcceptance text;
  const std::vector<double> keep = keep_probabilities(recording);
  for (const double one : keep) text.alpha += one / static_cast<double>(keep.size());
  text.alpha = std::min(text.alpha, 1.0);  // rounding may exceed 1 if everything is accepted
  const IntervalUnits units = interval_units(recording.sequences);
  for (const GammaRounds& found : expected_rounds(recording, units.stretches, most)) {
    const std::size_t gamma = text.expected_tokens.size() + 1;
    const Interval ended = tokens_per_round(units, found.rounds, gamma, confidence);
    // The estimate is for endless texts if these texts are long enough for it; the relative error is that of
    // texts with an end.
    const double expected = found.whole_rounds > 0 ? found.whole_tokens / found.whole_rounds : ended.estimate;
    text.expected_tokens.push_back(
        {expected, std::max(expected * ended.low / ended.estimate, 1.0),
         std::min(expected * ended.high / ended.estimate, static_cast<double>(gamma) + 1)});
  }
  for (std::size_t gamma = 1; gamma <= most; ++gamma)
    text.whole.push_back(accepted_by_position(recording, gamma).back().all);
  return text;
}

double seconds_a_token(const ClockedDecode& decode) {
  return decode.seconds / static_cast<double>(decode.tokens);
}

/// Fills in all values that are known before decoding.
ClockedGamma predicted_row(std::int32_t gamma, const RunSeconds& runs, const TextAcceptance& text) {
  const auto drafted = static_cast<std::size_t>(gamma);
  const double plain_run = runs.target.front();
  ClockedGamma row;
  row.gamma = gamma;
  row.target_run_milliseconds = 1e3 * plain_run;
  row.verify_run_milliseconds = 1e3 * runs.target[drafted];
  row.draft_run_milliseconds = 1e3 * runs.draft[0];
  row.c = runs.draft[0] / plain_run;
  row.verify_cost = runs.target[drafted] / plain_run;
  row.alpha = text.alpha;
  const Interval& expected = text.expected_tokens[drafted - 1];
  row.expected_tokens = expected.estimate;
  // After a round that accepts everything, the draft has two new tokens to read.
  const double longer_run = text.whole[drafted - 1] * (runs.draft[1] - runs.draft[0]) / plain_run;
  row.round_time = gamma * row.c + row.verify_cost + longer_run;
  row.printed_speedup = speedup(text.alpha, gamma, row.c);
  row.corrected_speedup = expected_tokens(text.alpha, gamma) / (gamma * row.c + row.verify_cost);
  row.predicted_speedup = row.expected_tokens / row.round_time;
  row.predicted_low = expected.low / row.round_time;
  row.predicted_high = expected.high / row.round_time;
  return row;
}

/// Adds measured times to a row, relative to decoding token by token in the same repeats.
void add_clock(ClockedGamma& row, const std::vector<ClockedDecode>& plain,
               const std::vector<ClockedDecode>& decodes, double confidence) {
  std::vector<double> ratios;
  std::vector<double> plain_rates;
  double tokens = 0;
  double rounds = 0;
  double seconds = 0;
  for (std::size_t repeat = 0; repeat < plain.size(); ++repeat) {
    const ClockedDecode& decode = decodes[repeat];
    ratios.push_back(seconds_a_token(plain[repeat]) / seconds_a_token(decode));
    plain_rates.push_back(1 / seconds_a_token(plain[repeat]));
    tokens += static_cast<double>(decode.tokens);
    rounds += static_cast<double>(decode.rounds);
    seconds += decode.seconds;
  }
  row.tokens_per_target_step = tokens / rounds;
  row.played_speedup = row.tokens_per_target_step / row.round_time;
  const Interval measured = median_interval(ratios, confidence).value();
  row.speedup = measured.estimate;
  row.speedup_low = measured.low;
  row.speedup_high = measured.high;
  row.plain_tokens_per_second = median(plain_rates);
  row.speculative_tokens_per_second = tokens / seconds;
}

std::string batch_text(const ClockedGamma& row) {
  return row.batch == 1 ? "" : fmt::format(", batches of {}", row.batch);
}

std::string bounds_text(const Interval& interval) {
  if (!interval.bounded()) return fmt::format("{:.3f} ± ?", interval.estimate);
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", interval.estimate, interval.low, interval.high);
}

Interval by_clock(const ClockedGamma& row) { return {row.speedup, row.speedup_low, row.speedup_high}; }

Interval predicted(const ClockedGamma& row) {
  return {row.predicted_speedup, row.predicted_low, row.predicted_high};
}

}  // namespace

std::uint64_t clock_workload(const ClockSettings& settings) {
  return settings.batches.size() * settings.repeats * settings.tokens * (1 + settings.gammas.size());
}

std::vector<ClockedGamma> clock_models(const Setup& setup, const ClockSettings& settings, double confidence,
                                       const Control& control) {
  const auto most = static_cast<std::size_t>(std::ranges::max(settings.gammas));
  const auto measured = measure_pair(setup,
                                     {.tokens = settings.tokens,
                                      .texts = settings.repeats,
                                      .positions = most + 1,
                                      .batches = settings.batches,
                                      .clock = settings.clock},
                                     control);
  if (!measured) throw Stopped{};
  const TextAcceptance text = acceptance_of(measured->text.recording, most, confidence);
  std::vector<ClockedGamma> rows;
  for (std::size_t i = 0; i < settings.batches.size(); ++i) {
    const ClockedGammas clocked =
        clock_decoding(setup.target, setup.draft, setup.rule.sampled, settings.gammas,
                       setup.simulation.prompts, setup.simulation.seed, settings.tokens, settings.repeats,
                       static_cast<std::size_t>(settings.batches[i]), settings.clock, control);
    if (clocked.plain.empty()) throw Stopped{};
    for (std::size_t at = 0; at < settings.gammas.size(); ++at) {
      ClockedGamma row = predicted_row(settings.gammas[at], measured->runs[i], text);
      row.batch = settings.batches[i];
      add_clock(row, clocked.plain, clocked.gammas[at], confidence);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Table clocked_table(const std::vector<ClockedGamma>& rows, const std::string& id) {
  Table table{id,
              "Predicted and measured on this machine",
              {"case", "texts at once", "γ", "draft run, ms", "target run, ms", "over γ + 1, ×",
               "tokens per target step", "Theorem 3.8", "with verify cost", "and this text", "by the clock",
               "rounds played, error %"}};
  for (const ClockedGamma& row : rows) {
    table.rows.push_back({text_cell(row.label),
                          number_cell(row.batch),
                          number_cell(row.gamma),
                          number_cell(row.draft_run_milliseconds),
                          number_cell(row.target_run_milliseconds),
                          number_cell(row.verify_cost),
                          number_cell(row.expected_tokens),
                          number_cell(row.printed_speedup),
                          number_cell(row.corrected_speedup),
                          {bounds_text(predicted(row)), row.predicted_speedup},
                          {bounds_text(by_clock(row)), row.speedup},
                          number_cell(100 * (row.played_speedup / row.speedup - 1))});
  }
  if (std::ranges::max_element(rows, {}, &ClockedGamma::batch)->batch == 1) {
    table.columns.erase(table.columns.begin() + 1);
    for (auto& cells : table.rows) cells.erase(cells.begin() + 1);
  }
  table.note = fmt::format(
      "α = {:.3f} on the text that the target wrote. Speedups compare with the same target decoding token by token. Theorem 3.8: acceptances are independent, and verifying γ + 1 positions costs as much as one. Next: with the measured cost of verification; then also with the expected tokens of this text, whose interval covers the text alone. By the clock: median of paired repeats. Last: the speedup by measured costs and the rounds that were played, compared with the clock.",
      rows.front().alpha);
  const auto best = std::ranges::max_element(rows, {}, &ClockedGamma::predicted_speedup);
  if (best->predicted_speedup <= 1) {
    table.note += fmt::format(" Do not speculate here: verification of {} tokens costs {:.1f} of 1{}.",
                              best->gamma + 1, best->verify_cost, batch_text(*best));
  }
  return table;
}

std::string clocked_csv(const std::vector<ClockedGamma>& rows) {
  std::vector<std::string> columns;
  for (const Field& field : described<ClockedGamma>().type->object()->fields()) {
    if (field.name != "round_time") columns.push_back(field.name);
  }
  return csv_of(described<ClockedGamma>(), rows, columns);
}

std::string clocked_headline(const std::vector<ClockedGamma>& rows) {
  const auto best = std::ranges::max_element(rows, {}, &ClockedGamma::speedup);
  const auto printed = std::ranges::max_element(rows, {}, &ClockedGamma::printed_speedup);
  return fmt::format(
      "By the clock the best is γ = {}{}: speedup {}. Theorem 3.8 at the measured α and c has {} at γ = {}{}.",
      best->gamma, batch_text(*best), bounds_text(by_clock(*best)), number_text(printed->printed_speedup),
      printed->gamma, batch_text(*printed));
}

std::vector<Figure> clocked_figures(const std::vector<ClockedGamma>& rows, const std::string& title) {
  std::vector<Figure> figures;
  for (std::size_t first = 0; first < rows.size();) {
    const ClockedGamma& head = rows[first];
    Series printed{.name = "Theorem 3.8"};
    Series corrected{.name = "with verify cost"};
    Series expected{.name = "and this text"};
    Series clock{.name = "by the clock", .style = SeriesStyle::points};
    std::size_t at = first;
    for (; at < rows.size() && rows[at].batch == head.batch && rows[at].label == head.label; ++at) {
      const ClockedGamma& row = rows[at];
      printed.add(row.gamma, row.printed_speedup);
      corrected.add(row.gamma, row.corrected_speedup);
      expected.add(row.gamma, predicted(row));
      clock.add(row.gamma, by_clock(row));
    }
    Figure& figure = figures.emplace_back();
    figure.title = (head.label.empty() ? title : titled(head.label, title)) + batch_text(head);
    figure.x_label = "γ";
    figure.y_label = "speedup";
    figure.series = {std::move(printed), std::move(corrected), std::move(expected), std::move(clock)};
    figure.caption =
        "Lines: predictions, before decoding. Points: medians of paired repeats by the clock, with intervals.";
    first = at;
  }
  return figures;
}

}  // namespace speclab
