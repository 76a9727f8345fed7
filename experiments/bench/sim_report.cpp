#include "experiments/bench/sim_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "experiments/page/cells.hpp"

namespace speclab {

namespace {

Cell four_digits(const std::optional<double>& value) { return measured_cell(value, 4); }
Cell four_digits(std::size_t value, double unit) { return four_digits(static_cast<double>(value) / unit); }

std::string mebibytes(std::size_t bytes) { return digits_text(static_cast<double>(bytes) / mebi, 4); }

Table limits_table(const MachineLimits& limits) {
  Table table{"limits", "What the machine allows, one thread", {"limit", "value", "unit"}};
  const auto add = [&](std::string name, double value, const char* unit) {
    table.rows.push_back({text_cell(std::move(name)), four_digits(value), text_cell(unit)});
  };
  for (const auto& [ns, name] : {std::pair{limits.block_ns, "Philox blocks by " + limits.instruction_set},
                                 std::pair{limits.scalar_block_ns, std::string("Philox blocks, scalar")}}) {
    add(name, 1e3 / ns, "million/s");
    add(name, ns, "ns");
  }
  if (limits.sequential_bytes && limits.sequential_bytes_per_second) {
    add(fmt::format("reads in order, {} MiB", mebibytes(*limits.sequential_bytes)),
        *limits.sequential_bytes_per_second / 1e9, "GB/s");
  }
  for (const ReadLimit& read : limits.reads) {
    const std::string size = mebibytes(read.bytes);
    add(fmt::format("random read, latency, {} MiB", size), read.latency_ns, "ns");
    add(fmt::format("random read, 32 in flight, {} MiB", size), read.in_flight_ns, "ns");
  }
  return table;
}

Table speed_table(const std::vector<WorkloadRow>& rows) {
  Table table{
      "speed", "Decoding", {"workload", "million tokens/s", "million rounds/s", "ns/token", "spread %"}};
  for (const WorkloadRow& row : rows) {
    table.rows.push_back({text_cell(row.name), four_digits(row.tokens_per_second / 1e6),
                          four_digits(row.rounds_per_second / 1e6), four_digits(row.ns_per_token),
                          four_digits(100 * row.spread)});
  }
  return table;
}

Table work_table(const std::vector<WorkloadRow>& rows) {
  Table table{"work",
              "What a token takes",
              {"workload", "numbers", "reads", "passes", "cache misses", "tables MiB", "bytes/context"}};
  for (const WorkloadRow& row : rows) {
    if (!row.per_token) continue;
    table.rows.push_back({text_cell(row.name), four_digits(row.per_token->random_numbers),
                          four_digits(row.per_token->reads), four_digits(row.per_token->passes),
                          four_digits(row.cache_misses_per_token),
                          row.tables ? four_digits(row.tables->table_bytes, mebi) : four_digits({}),
                          row.tables ? four_digits(row.tables->bytes_per_context) : four_digits({})});
  }
  return table;
}

Table bound_table(const std::vector<WorkloadRow>& rows) {
  Table table{"bound",
              "Time a token beside its bound, ns",
              {"workload", "measured", "numbers", "reads", "bound: sum", "ratio", "larger", "ratio to it"}};
  for (const WorkloadRow& row : rows) {
    if (!row.bound) continue;
    const TimeBound& bound = *row.bound;
    table.rows.push_back({text_cell(row.name), four_digits(row.ns_per_token),
                          four_digits(bound.random_ns_per_token), four_digits(bound.reads_ns_per_token),
                          four_digits(bound.sum_ns_per_token), four_digits(bound.ratio_to_sum),
                          four_digits(bound.larger_ns_per_token), four_digits(bound.ratio_to_larger)});
  }
  return table;
}

Table comparisons_table(const SimReport& report) {
  Table table{"ratios", "Ratios of tokens/s", {"what", "ratio"}};
  for (const RatioRow& row : report.comparisons)
    table.rows.push_back({text_cell(row.name), four_digits(row.ratio)});
  if (report.numpy && report.numpy->measured && report.numpy->measured->fast_over_numpy) {
    table.rows.push_back({text_cell(report.numpy->name + ": fast engine over NumPy"),
                          four_digits(*report.numpy->measured->fast_over_numpy)});
  }
  return table;
}

Table drafting_table(const std::vector<DraftingRow>& rows) {
  Table table{"drafting",
              "Drafting without a model, rows of 32,000 tokens",
              {"drafter", "reading, ns a settled token", "proposing, ns a drafted token", "tokens a round"}};
  for (const DraftingRow& row : rows) {
    table.rows.push_back({text_cell(row.name), four_digits(row.read_ns_per_token),
                          four_digits(row.propose_ns_per_token), four_digits(row.mean_length)});
  }
  return table;
}

Table preparation_table(const std::vector<PreparationRow>& rows) {
  Table table{"preparation",
              "Making the pairs, one thread, each once",
              {"pair", "million tokens", "words to ids s", "training s", "text MB/s", "tables s", "contexts",
               "tables MiB"}};
  for (const PreparationRow& row : rows) {
    const bool trained = row.text_bytes > 0;
    const auto of_text = [&](double value) { return trained ? four_digits(value) : four_digits({}); };
    table.rows.push_back({text_cell(row.name), of_text(static_cast<double>(row.tokens) / 1e6),
                          of_text(row.corpus_seconds), of_text(row.training_seconds),
                          of_text(row.text_bytes_per_second.value_or(0) / 1e6),
                          four_digits(row.preparing_seconds), four_digits(row.contexts, 1),
                          four_digits(row.table_bytes, mebi)});
  }
  return table;
}

Table lengths_table(const std::vector<LengthRow>& rows) {
  Table table{
      "lengths",
      "Time and memory by the length of the run",
      {"run", "tokens", "ns/token", "best", "best over the first's", "peak memory MiB", "repetitions"}};
  for (const LengthRow& row : rows) {
    table.rows.push_back({text_cell(row.name), four_digits(row.tokens, 1), four_digits(row.ns_per_token),
                          four_digits(row.best_ns_per_token),
                          four_digits(row.best_ns_per_token / rows.front().best_ns_per_token),
                          four_digits(row.peak_bytes, mebi),
                          four_digits(static_cast<double>(row.repetitions))});
  }
  return table;
}

Table numpy_table(const std::optional<NumpyRow>& numpy) {
  Table table{"numpy",
              "The same tables decoded by scripts/numpy_reference.py, once, after the other rows",
              {"workload", "rounds", "tokens", "seconds", "tokens/s", "chi-squared", "degrees", "p"}};
  if (!numpy || !numpy->measured) return table;
  const NumpyMeasurement& measured = *numpy->measured;
  table.rows.push_back({text_cell(numpy->name), four_digits(measured.output.rounds, 1),
                        four_digits(measured.output.emitted, 1), four_digits(measured.output.seconds),
                        four_digits(measured.tokens_per_second), four_digits(measured.test.pearson),
                        four_digits(static_cast<double>(measured.test.degrees)),
                        four_digits(measured.test.p)});
  return table;
}

/// Tokens per second of each row with a bound, beside what the bound would give.
Figure speed_figure(const SimReport& report) {
  Figure figure{.id = "speed-figure",
                .title = "Tokens per second beside their bound",
                .x_label = "",
                .y_label = "tokens/s",
                .log_y = true,
                .series = {{"measured", SeriesStyle::points},
                           {"bound: numbers and reads", SeriesStyle::levels},
                           {"bound: the larger of the two", SeriesStyle::levels}},
                .caption =
                    "Points: medians, one thread. Lines: what the machine's limits, measured in the "
                    "same run, would allow.",
                .command = report.command};
  for (const WorkloadRow& row : report.workloads) {
    if (!row.bound) continue;
    const double x = figure.add_category(row.name);
    const std::array<double, 3> rates{row.tokens_per_second, 1e9 / row.bound->sum_ns_per_token,
                                      1e9 / row.bound->larger_ns_per_token};
    for (std::size_t i = 0; i < rates.size(); ++i) figure.series[i].add(x, rates[i]);
  }
  return figure;
}

/// What stands in which column, and what the bound does and does not say: one sentence a line.
std::vector<std::string> notes_of(const SimReport& report) {
  std::vector<std::string> notes;
  notes.push_back(
      fmt::format("gamma = {}, token verification. Medians of {} repetitions, in random order in one run, "
                  "limits among them; spread is the interquartile range over the median. Processor time, but "
                  "wall clock for rows of several threads.",
                  report.gamma, report.repetitions));
  notes.emplace_back(
      "numbers are 64-bit random numbers, two a Philox block; passes are residuals drawn by a pass over the "
      "vocabulary, which the bound leaves out; cache misses are of the last cache in user mode, \"-\" where "
      "the processor may not be asked.");
  notes.emplace_back(
      "The bound is blocks a token x ns a block + reads a token x ns a read with 32 in flight on memory of "
      "the size of the tables, huge pages where the system has them. A processor can overlap the two parts, "
      "so that the strict lower bound is the larger of them.");
  notes.emplace_back(
      "That is for reads spread evenly over the tables: n-gram tables are read as words occur, frequent ones "
      "from caches, and can be faster than their bound.");
  notes.push_back(
      fmt::format("n-grams are Kneser-Ney models of the two halves of {} MB of made text; stored rows are "
                  "Dirichlet(0.3), the draft 0.7 of the target and 0.3 of others.",
                  digits_text(static_cast<double>(report.text_bytes) / 1e6, 4)));
  if (!report.numpy) return notes;
  notes.push_back(report.numpy->skipped
                      ? fmt::format("{}: skipped: {}.", report.numpy->name, *report.numpy->skipped)
                      : "chi-squared: do NumPy and the fast engine accept equally many tokens? Of each "
                        "sequence of 8 rounds the last alone is taken: rounds of one sequence depend on each "
                        "other, those of different sequences do not.");
  return notes;
}

}  // namespace

Page sim_text(const SimReport& report) {
  std::vector<Table> tables{limits_table(report.limits),   speed_table(report.workloads),
                            work_table(report.workloads),  bound_table(report.workloads),
                            comparisons_table(report),     drafting_table(report.drafting),
                            lengths_table(report.lengths), preparation_table(report.preparation),
                            numpy_table(report.numpy)};
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  return {
      "speclab: the speed of the simulator",
      "measured beside what the machine allows",
      {{"Version", "speclab " + report.version}, {"Machine", report.machine}, {"Command", report.command}},
      {{.id = "sim", .title = "The simulator", .tables = std::move(tables), .notes = notes_of(report)}}};
}

Page sim_page(const SimReport& report) {
  Page page = sim_text(report);
  const auto fastest = std::max_element(
      report.workloads.begin(), report.workloads.end(),
      [](const auto& a, const auto& b) { return a.tokens_per_second < b.tokens_per_second; });
  if (fastest != report.workloads.end()) {
    page.headline = fmt::format("Up to {} million tokens a second ({}).",
                                digits_text(fastest->tokens_per_second / 1e6, 4), fastest->name);
  }
  const Figure figure = speed_figure(report);
  if (!figure.categories.empty()) page.sections.front().figures.push_back(draw(figure));
  return page;
}

}  // namespace speclab
