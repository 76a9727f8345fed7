#include "experiments/bench/sim_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include "experiments/base/page/cells.hpp"

namespace speclab {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / mebi; }

/// Adds a row that consists of a name and numbers.
void add(Table& table, const std::string& name, std::initializer_list<std::optional<double>> numbers) {
  std::vector<Cell>& cells = table.rows.emplace_back(1, text_cell(name));
  for (const std::optional<double>& number : numbers) cells.push_back(measured_cell(number, 4));
}

Table limits_table(const MachineLimits& limits) {
  Table table{"limits", "What the machine allows, one thread", {"limit", "value", "unit"}};
  const auto add_limit = [&](const std::string& name, double value, const char* unit) {
    add(table, name, {value});
    table.rows.back().push_back(text_cell(unit));
  };
  for (const auto& [ns, name] : {std::pair{limits.block_ns, "Philox blocks by " + limits.instruction_set},
                                 std::pair{limits.scalar_block_ns, std::string("Philox blocks, scalar")}}) {
    add_limit(name, 1e3 / ns, "million/s");
    add_limit(name, ns, "ns");
  }
  if (limits.sequential_bytes && limits.sequential_bytes_per_second) {
    add_limit(fmt::format("reads in order, {} MiB", digits_text(mebibytes(*limits.sequential_bytes), 4)),
              *limits.sequential_bytes_per_second / 1e9, "GB/s");
  }
  for (const ReadLimit& read : limits.reads) {
    const std::string size = digits_text(mebibytes(read.bytes), 4);
    add_limit(fmt::format("random read, latency, {} MiB", size), read.latency_ns, "ns");
    add_limit(fmt::format("random read, 32 in flight, {} MiB", size), read.in_flight_ns, "ns");
  }
  return table;
}

Table speed_table(const std::vector<WorkloadRow>& rows) {
  Table table{
      "speed", "Decoding", {"workload", "million tokens/s", "million rounds/s", "ns/token", "spread %"}};
  for (const WorkloadRow& row : rows) {
    add(table, row.name,
        {row.tokens_per_second / 1e6, row.rounds_per_second / 1e6, row.ns_per_token, 100 * row.spread});
  }
  return table;
}

Table work_table(const std::vector<WorkloadRow>& rows) {
  Table table{"work",
              "What a token takes",
              {"workload", "numbers", "reads", "passes", "cache misses", "tables MiB", "bytes/context"}};
  for (const WorkloadRow& row : rows) {
    if (!row.per_token) continue;
    add(table, row.name,
        {row.per_token->random_numbers, row.per_token->reads, row.per_token->passes,
         row.cache_misses_per_token, row.tables ? mebibytes(row.tables->table_bytes) : none,
         row.tables ? row.tables->bytes_per_context : none});
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
    add(table, row.name,
        {row.ns_per_token, bound.random_ns_per_token, bound.reads_ns_per_token, bound.sum_ns_per_token,
         bound.ratio_to_sum, bound.larger_ns_per_token, bound.ratio_to_larger});
  }
  return table;
}

Table comparisons_table(const SimReport& report) {
  Table table{"ratios", "Ratios of tokens/s", {"what", "ratio"}};
  for (const RatioRow& row : report.comparisons) add(table, row.name, {row.ratio});
  if (report.numpy && report.numpy->measured && report.numpy->measured->fast_over_numpy) {
    add(table, report.numpy->name + ": fast engine over NumPy", {report.numpy->measured->fast_over_numpy});
  }
  return table;
}

Table drafting_table(const std::vector<DraftingRow>& rows) {
  Table table{"drafting",
              "Drafting without a model, rows of 32,000 tokens",
              {"drafter", "reading, ns a settled token", "proposing, ns a drafted token", "tokens a round"}};
  for (const DraftingRow& row : rows) {
    add(table, row.name, {row.read_ns_per_token, row.propose_ns_per_token, row.mean_length});
  }
  return table;
}

Table preparation_table(const std::vector<PreparationRow>& rows) {
  Table table{"preparation",
              "Making the pairs, one thread, each once",
              {"pair", "million tokens", "words to ids s", "training s", "text MB/s", "tables s", "contexts",
               "tables MiB"}};
  for (const PreparationRow& row : rows) {
    const auto of_text = [&](double value) { return row.text_bytes > 0 ? value : none; };
    add(table, row.name,
        {of_text(static_cast<double>(row.tokens) / 1e6), of_text(row.corpus_seconds),
         of_text(row.training_seconds), of_text(row.text_bytes_per_second.value_or(0) / 1e6),
         row.preparing_seconds, row.contexts, mebibytes(row.table_bytes)});
  }
  return table;
}

Table lengths_table(const std::vector<LengthRow>& rows) {
  Table table{
      "lengths",
      "Time and memory by the length of the run",
      {"run", "tokens", "ns/token", "best", "best over the first's", "peak memory MiB", "repetitions"}};
  for (const LengthRow& row : rows) {
    add(table, row.name,
        {row.tokens, row.ns_per_token, row.best_ns_per_token,
         row.best_ns_per_token / rows.front().best_ns_per_token, mebibytes(row.peak_bytes), row.repetitions});
  }
  return table;
}

Table numpy_table(const std::optional<NumpyRow>& numpy) {
  Table table{"numpy",
              "The same tables decoded by scripts/numpy_reference.py, once, after the other rows",
              {"workload", "rounds", "tokens", "seconds", "tokens/s", "chi-squared", "degrees", "p"}};
  if (!numpy || !numpy->measured) return table;
  const auto& [output, tokens_per_second, test, ratio] = *numpy->measured;
  add(table, numpy->name,
      {output.rounds, output.emitted, output.seconds, tokens_per_second, test.pearson, test.degrees, test.p});
  return table;
}

/// Draws the tokens per second of each row that has a bound, beside those of the bound.
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

/// Returns notes, one sentence each, that explain the columns and the meaning of the bound.
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
