#include "experiments/bench/sim_report.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "experiments/bench/workloads.hpp"

namespace speclab {

namespace {

using Row = std::vector<Cell>;

constexpr const char* absent = "-";
constexpr double mebi = 1048576;

Cell text(std::string words) { return {std::move(words), {}, ""}; }

/// Four significant digits, in whole digits above that.
std::string digits(double value) {
  return value >= 1000 ? grouped(static_cast<std::uint64_t>(std::llround(value)))
                       : fmt::format("{:.4g}", value);
}

Cell number(double value) { return {digits(value), value, ""}; }

/// A key that may be missing, in another unit.
Cell number(const Json& row, const char* key, double unit = 1) {
  return row.contains(key) ? number(row.at(key).get<double>() / unit) : text(absent);
}

Table limits_table(const Json& limits) {
  Table table{"limits", "What the machine allows, one thread", {"limit", "value", "unit"}, {}, "", false};
  const auto add = [&](std::string name, double value, const char* unit) {
    table.rows.push_back({text(std::move(name)), number(value), text(unit)});
  };
  const auto set = limits.at("instruction_set").get<std::string>();
  for (const auto& [key, name] : {std::pair{"block_ns", "Philox blocks by " + set},
                                  std::pair{"scalar_block_ns", std::string("Philox blocks, scalar")}}) {
    const auto ns = limits.at(key).get<double>();
    add(name, 1e3 / ns, "million/s");
    add(name, ns, "ns");
  }
  if (limits.contains("sequential_bytes")) {
    add(fmt::format("reads in order, {} MiB", digits(limits.at("sequential_bytes").get<double>() / mebi)),
        limits.at("sequential_bytes_per_second").get<double>() / 1e9, "GB/s");
  }
  for (const Json& reads : limits.at("reads")) {
    const std::string size = digits(reads.at("bytes").get<double>() / mebi);
    add(fmt::format("random read, latency, {} MiB", size), reads.at("latency_ns").get<double>(), "ns");
    add(fmt::format("random read, 32 in flight, {} MiB", size), reads.at("in_flight_ns").get<double>(), "ns");
  }
  return table;
}

Table speed_table(const Json& rows) {
  Table table{
      "speed", "Decoding", {"workload", "million tokens/s", "million rounds/s", "ns/token", "spread %"},
      {},      "",         false};
  for (const Json& row : rows) {
    table.rows.push_back({text(row.at("name")), number(row, "tokens_per_second", 1e6),
                          number(row, "rounds_per_second", 1e6), number(row, "ns_per_token"),
                          number(row, "spread", 1e-2)});
  }
  return table;
}

Table work_table(const Json& rows) {
  Table table{"work",
              "What a token takes",
              {"workload", "numbers", "reads", "passes", "cache misses", "tables MiB", "bytes/context"},
              {},
              "",
              false};
  for (const Json& row : rows) {
    if (!row.contains("random_numbers_per_token")) continue;
    table.rows.push_back({text(row.at("name")), number(row, "random_numbers_per_token"),
                          number(row, "reads_per_token"), number(row, "passes_per_token"),
                          number(row, "cache_misses_per_token"), number(row, "table_bytes", mebi),
                          number(row, "bytes_per_context")});
  }
  return table;
}

Table bound_table(const Json& rows) {
  Table table{"bound",
              "Time a token beside its bound, ns",
              {"workload", "measured", "numbers", "reads", "bound: sum", "ratio", "larger", "ratio to it"},
              {},
              "",
              false};
  for (const Json& row : rows) {
    if (!row.contains("bound")) continue;
    const Json& bound = row.at("bound");
    table.rows.push_back({text(row.at("name")), number(row, "ns_per_token"),
                          number(bound, "random_ns_per_token"), number(bound, "reads_ns_per_token"),
                          number(bound, "sum_ns_per_token"), number(bound, "ratio_to_sum"),
                          number(bound, "larger_ns_per_token"), number(bound, "ratio_to_larger")});
  }
  return table;
}

Table comparisons_table(const Json& result) {
  Table table{"ratios", "Ratios of tokens/s", {"what", "ratio"}, {}, "", false};
  for (const Json& row : result.at("comparisons"))
    table.rows.push_back({text(row.at("name")), number(row, "ratio")});
  const Json& numpy = result.at("numpy");
  if (numpy.is_object() && numpy.contains("quick_over_numpy")) {
    table.rows.push_back({text(numpy.at("name").get<std::string>() + ": quick engine over NumPy"),
                          number(numpy, "quick_over_numpy")});
  }
  return table;
}

Table preparation_table(const Json& rows) {
  Table table{"preparation",
              "Making the pairs, one thread, each once",
              {"pair", "million tokens", "words to ids s", "training s", "text MB/s", "tables s", "contexts",
               "tables MiB"},
              {},
              "",
              false};
  for (const Json& row : rows) {
    const bool trained = row.at("text_bytes").get<double>() > 0;
    const auto of_text = [&](const char* key, double unit = 1) {
      return trained ? number(row, key, unit) : text(absent);
    };
    table.rows.push_back({text(row.at("name")), of_text("tokens", 1e6), of_text("corpus_seconds"),
                          of_text("training_seconds"), of_text("text_bytes_per_second", 1e6),
                          number(row, "preparing_seconds"), number(row, "contexts"),
                          number(row, "table_bytes", mebi)});
  }
  return table;
}

Table lengths_table(const Json& rows) {
  Table table{
      "lengths",
      "Time and memory by the length of the run",
      {"run", "tokens", "ns/token", "best", "best over the first's", "peak memory MiB", "repetitions"},
      {},
      "",
      false};
  for (const Json& row : rows) {
    const double first = rows[0].at("best_ns_per_token").get<double>();
    table.rows.push_back({text(row.at("name")), number(row, "tokens"), number(row, "ns_per_token"),
                          number(row, "best_ns_per_token"), number(row, "best_ns_per_token", first),
                          number(row, "peak_bytes", mebi), number(row, "repetitions")});
  }
  return table;
}

Table numpy_table(const Json& numpy) {
  Table table{"numpy",
              "The same tables decoded by scripts/numpy_reference.py, once, after the other rows",
              {"workload", "rounds", "tokens", "seconds", "tokens/s", "chi-squared", "degrees", "p"},
              {},
              "",
              false};
  if (!numpy.is_object() || numpy.contains("skipped")) return table;
  const Json& test = numpy.at("test");
  table.rows.push_back({text(numpy.at("name")), number(numpy, "rounds"), number(numpy, "emitted"),
                        number(numpy, "seconds"), number(numpy, "tokens_per_second"), number(test, "pearson"),
                        number(test, "degrees"), number(test, "p")});
  return table;
}

/// Tokens per second of each row with a bound, beside what the bound would give.
Figure speed_figure(const Json& result) {
  Figure figure{.id = "speed-figure",
                .title = "Tokens per second beside their bound",
                .x_label = "",
                .y_label = "tokens/s",
                .log_y = true,
                .x_range = {},
                .y_range = {},
                .series = {{"measured", SeriesStyle::points, {}, {}, {}, {}, {}},
                           {"bound: numbers and reads", SeriesStyle::levels, {}, {}, {}, {}, {}},
                           {"bound: the larger of the two", SeriesStyle::levels, {}, {}, {}, {}, {}}},
                .heat = {},
                .trace = {},
                .caption =
                    "Points: medians, one thread. Lines: what the machine's limits, measured in the "
                    "same run, would allow.",
                .command = result.at("command")};
  for (const Json& row : result.at("workloads")) {
    if (!row.contains("bound")) continue;
    const Json& bound = row.at("bound");
    const auto x = static_cast<double>(figure.categories.size());
    figure.categories.push_back(row.at("name"));
    const std::array<double, 3> rates{row.at("tokens_per_second").get<double>(),
                                      1e9 / bound.at("sum_ns_per_token").get<double>(),
                                      1e9 / bound.at("larger_ns_per_token").get<double>()};
    for (std::size_t i = 0; i < rates.size(); ++i) {
      figure.series[i].x.push_back(x);
      figure.series[i].y.push_back(rates[i]);
    }
  }
  return figure;
}

}  // namespace

std::vector<Table> sim_tables(const Json& result) {
  std::vector<Table> tables;
  for (Table& table :
       std::vector<Table>{limits_table(result.at("limits")), speed_table(result.at("workloads")),
                          work_table(result.at("workloads")), bound_table(result.at("workloads")),
                          comparisons_table(result), lengths_table(result.at("lengths")),
                          preparation_table(result.at("preparation")), numpy_table(result.at("numpy"))}) {
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<std::string> sim_notes(const Json& result) {
  std::vector<std::string> notes;
  notes.push_back(
      fmt::format("gamma = {}, token verification. Medians of {} repetitions, in random order in one run, "
                  "limits among them; spread is the interquartile range over the median. Processor time, but "
                  "wall clock for rows of several threads.",
                  result.at("gamma").get<int>(), result.at("repetitions").get<int>()));
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
                  digits(result.at("text_bytes").get<double>() / 1e6)));
  const Json& numpy = result.at("numpy");
  if (!numpy.is_object()) return notes;
  notes.push_back(numpy.contains("skipped")
                      ? fmt::format("{}: skipped: {}.", numpy.at("name").get<std::string>(),
                                    numpy.at("skipped").get<std::string>())
                      : "chi-squared: do NumPy and the quick engine accept equally many tokens? Of each "
                        "sequence of 8 rounds the last alone is taken: rounds of one sequence depend on each "
                        "other, those of different sequences do not.");
  return notes;
}

Page sim_page(const Json& result) {
  Section section{"sim", "The simulator", "", sim_tables(result), {}, {}, sim_notes(result)};
  const Figure figure = speed_figure(result);
  if (!figure.categories.empty()) section.figures.push_back(draw(figure));
  return {"speclab: the speed of the simulator",
          "measured beside what the machine allows",
          {{"Version", "speclab " + result.at("version").get<std::string>()},
           {"Machine", result.at("machine")},
           {"Command", result.at("command")}},
          {std::move(section)}};
}

}  // namespace speclab
