#include "experiments/bench/sim_result.hpp"

#include <fmt/format.h>

#include <initializer_list>

#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"

namespace speclab {

SPECLAB_RESULT(WorkloadRow, "workload", name, threads, clock, seconds, wall_seconds, spread, tokens, rounds,
               tokens_per_second, rounds_per_second, ns_per_token);
SPECLAB_RESULT(RatioRow, "ratio", name, ratio);
SPECLAB_RESULT(SimReport, "bench sim", version, machine, command, quick, gamma, repetitions, text_bytes,
               workloads, comparisons);

namespace {

/// Adds a row with a name and numbers.
void add(Table& table, const std::string& name, std::initializer_list<double> numbers) {
  std::vector<Cell>& cells = table.rows.emplace_back(1, text_cell(name));
  for (const double number : numbers) cells.push_back(measured_cell(number, 4));
}

}  // namespace

Page sim_text(const SimReport& report) {
  Table speed{
      "speed", "Decoding", {"workload", "million tokens/s", "million rounds/s", "ns/token", "spread %"}};
  for (const WorkloadRow& row : report.workloads) {
    add(speed, row.name,
        {row.tokens_per_second / 1e6, row.rounds_per_second / 1e6, row.ns_per_token, 100 * row.spread});
  }
  std::vector<Table> tables{std::move(speed)};
  Table ratios{"ratios", "Ratios of tokens/s", {"what", "ratio"}};
  for (const RatioRow& row : report.comparisons) add(ratios, row.name, {row.ratio});
  if (!ratios.rows.empty()) tables.push_back(std::move(ratios));
  const std::string measured = fmt::format(
      "gamma = {}, token verification. Medians of {} repetitions, in random order in one run; "
      "spread is the interquartile range over the median. Processor time, but wall clock for rows "
      "of several threads.",
      report.gamma, report.repetitions);
  const std::string models = fmt::format(
      "n-grams are Kneser-Ney models of the two halves of {} MB of made text; stored rows are "
      "Dirichlet(0.3), the draft 0.7 of the target and 0.3 of others.",
      digits_text(static_cast<double>(report.text_bytes) / 1e6, 4));
  return {
      "speclab: the speed of the simulator",
      "",
      {{"Version", "speclab " + report.version}, {"Machine", report.machine}, {"Command", report.command}},
      {{.id = "sim", .title = "The simulator", .tables = std::move(tables), .notes = {measured, models}}}};
}

}  // namespace speclab
