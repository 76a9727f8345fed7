#include "experiments/bench/kernel_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include "experiments/bench/kernel_figures.hpp"
#include "experiments/bench/workloads.hpp"
#include "experiments/csv_values.hpp"
#include "experiments/format/config_error.hpp"

namespace speclab {

namespace {

constexpr const char* absent = "-";
constexpr double mebi = 1048576;
constexpr double gibi = 1073741824;
/// Longer tables are closed at first, below the figures.
constexpr std::size_t most_open_rows = 30;

const std::vector<std::string>& row_keys() {
  static const std::vector<std::string> keys{"requests",
                                             "gamma",
                                             "vocab",
                                             "dtype",
                                             "alpha",
                                             "realised_alpha",
                                             "accepted",
                                             "cache",
                                             "method",
                                             "kind",
                                             "repetitions",
                                             "median_us",
                                             "p99_us",
                                             "bytes",
                                             "gb_per_s",
                                             "of_copy",
                                             "times_baseline",
                                             "times_wagner-exact",
                                             "times_wagner-sigmoid",
                                             "total_variation"};
  return keys;
}

Cell text(std::string words) { return {std::move(words), {}, ""}; }

Cell whole(const Json& value) {
  const auto number = value.get<std::uint64_t>();
  return {grouped(number), static_cast<double>(number), ""};
}

/// Three significant digits, whole ones above that.
Cell number(const Json& value, double unit = 1) {
  if (value.is_null()) return text(absent);
  const double scaled = value.get<double>() / unit;
  return {scaled >= 1000 ? grouped(static_cast<std::uint64_t>(std::llround(scaled)))
                         : fmt::format("{:.3g}", scaled),
          scaled, ""};
}

bool is_dry(const Json& result) { return result.at("kind") == "dry run"; }

void keep_first(Table& table, std::size_t most_rows) {
  if (most_rows == 0 || table.rows.size() <= most_rows) return;
  table.note = fmt::format("{} further rows: --json, or --out", table.rows.size() - most_rows);
  table.rows.resize(most_rows);
}

Table verification_table(const Json& rows) {
  Table table{"verification-times",
              "Verification, medians",
              {"B", "gamma", "V", "dtype", "alpha", "cache", "method", "us", "p99 us", "MB", "GB/s", "% copy",
               "x baseline", "x wagner-exact", "x wagner-sigmoid", "TV"},
              {},
              "",
              false};
  for (const Json& row : rows) {
    if (row.at("kind") == "ceiling") continue;
    table.rows.push_back({whole(row.at("requests")), whole(row.at("gamma")), whole(row.at("vocab")),
                          text(row.at("dtype")), number(row.at("alpha")), text(row.at("cache")),
                          text(row.at("method")), number(row.at("median_us")), number(row.at("p99_us")),
                          number(row.at("bytes"), 1e6), number(row.at("gb_per_s")),
                          number(row.at("of_copy"), 1e-2), number(row.at("times_baseline")),
                          number(row.at("times_wagner-exact")), number(row.at("times_wagner-sigmoid")),
                          number(row.at("total_variation"))});
  }
  return table;
}

Table ceilings_table(const Json& rows) {
  Table table{"ceilings",
              "What the device allows",
              {"B", "gamma", "V", "dtype", "alpha", "cache", "what", "us", "p99 us", "MB", "GB/s"},
              {},
              "",
              true};
  for (const Json& row : rows) {
    if (row.at("kind") != "ceiling") continue;
    table.rows.push_back({whole(row.at("requests")), whole(row.at("gamma")), whole(row.at("vocab")),
                          text(row.at("dtype")), number(row.at("alpha")), text(row.at("cache")),
                          text(row.at("method")), number(row.at("median_us")), number(row.at("p99_us")),
                          number(row.at("bytes"), 1e6), number(row.at("gb_per_s"))});
  }
  return table;
}

Table left_out_table(const Json& rows) {
  Table table{"left-out", "Left out", {"size", "method", "why"}, {}, "", false};
  for (const Json& row : rows) {
    table.rows.push_back({text(row.at("size")), text(row.at("method")), text(row.at("why"))});
  }
  return table;
}

Table plan_table(const Json& points) {
  Table table{"plan",
              "Launches and bytes; the bound is bytes over the assumed bandwidth",
              {"B", "gamma", "V", "dtype", "alpha", "method", "launches", "most blocks", "scratch MiB",
               "MB moved", "bound us", "problems"},
              {},
              "",
              false};
  for (const Json& point : points) {
    for (const Json& method : point.at("methods")) {
      std::vector<Cell> cells{whole(point.at("requests")), whole(point.at("gamma")),
                              whole(point.at("vocab")),    text(point.at("dtype")),
                              number(point.at("alpha")),   text(method.at("method"))};
      if (method.contains("left_out")) {
        for (int i = 0; i < 5; ++i) cells.push_back(text(absent));
        cells.push_back(text("left out: " + method.at("left_out").get<std::string>()));
      } else {
        std::uint64_t most = 0;
        for (const Json& launch : method.at("launches")) {
          most = std::max(most, launch.at("blocks").get<std::uint64_t>());
        }
        const auto problems = method.at("problems").get<std::vector<std::string>>();
        cells.push_back(whole(method.at("launches").size()));
        cells.push_back(whole(most));
        cells.push_back(number(method.at("workspace_bytes"), mebi));
        cells.push_back(
            number(method.at("bytes_read").get<double>() + method.at("bytes_written").get<double>(), 1e6));
        cells.push_back(number(method.at("bound_us")));
        cells.push_back(text(problems.empty() ? "none" : fmt::format("{}", fmt::join(problems, "; "))));
      }
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

Table unfit_table(const Json& points) {
  Table table{
      "unfit", "Left out: more than the assumed memory", {"B", "gamma", "V", "dtype", "alpha", "GiB"}, {}, "",
      false};
  for (const Json& point : points) {
    if (point.at("fits").get<bool>()) continue;
    table.rows.push_back({whole(point.at("requests")), whole(point.at("gamma")), whole(point.at("vocab")),
                          text(point.at("dtype")), number(point.at("alpha")),
                          number(point.at("device_bytes"), gibi)});
  }
  return table;
}

Table emulated_table(const Json& rows) {
  Table table{"emulated",
              "Run in the emulator, against the reference",
              {"method", "B", "gamma", "V", "dtype", "agreed", "within band", "different", "bytes loaded",
               "bytes counted", "loaded/counted"},
              {},
              "",
              false};
  for (const Json& row : rows) {
    const auto optional = [&](const char* key) {
      return row.contains(key) ? number(row.at(key)) : text(absent);
    };
    const std::string name =
        row.at("method").get<std::string>() +
        (row.contains("left_out") ? ": left out: " + row.at("left_out").get<std::string>() : "");
    table.rows.push_back({text(name), whole(row.at("requests")), whole(row.at("gamma")),
                          whole(row.at("vocab")), text(row.at("dtype")), optional("agreed"),
                          optional("within_band"), optional("different"), optional("loaded_bytes"),
                          optional("counted_bytes"), optional("loaded_over_counted")});
  }
  return table;
}

std::vector<std::string> dry_notes(const Json& result) {
  const Json& assumed = result.at("assumptions");
  return {
      fmt::format("Nothing was measured. {} configurations checked, {} problems; {} of {} points need more "
                  "than {} GiB (assumed) and are left out.",
                  result.at("configurations").get<std::uint64_t>(),
                  result.at("problems").get<std::uint64_t>(), result.at("left_out").get<std::uint64_t>(),
                  result.at("points").size(), assumed.at("memory_gib").get<double>()),
      fmt::format("The bound is bytes moved over {} GB/s, an assumption and not a measurement, with tokens "
                  "accepted independently at every position with probability alpha.",
                  assumed.at("bandwidth_gbs").get<double>()),
      "Bytes loaded are what the threads of the emulator asked for, bytes counted what the algorithm has to "
      "read: caches serve the difference. Within band: the reference is so close to an edge that single "
      "precision may decide either way."};
}

}  // namespace

std::vector<Table> kernel_tables(const Json& result, std::size_t most_rows) {
  std::vector<Table> all;
  if (is_dry(result)) {
    all = {plan_table(result.at("points")), unfit_table(result.at("points")),
           emulated_table(result.at("emulated"))};
  } else {
    all = {verification_table(result.at("verification")), ceilings_table(result.at("verification")),
           left_out_table(result.at("left_out"))};
  }
  std::vector<Table> tables;
  for (Table& table : all) {
    if (table.rows.empty()) continue;
    table.folded = table.rows.size() > most_open_rows;
    keep_first(table, most_rows);
    tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<std::string> kernel_notes(const Json& result) {
  if (is_dry(result)) return dry_notes(result);
  return {
      fmt::format(
          "Medians and 99th percentiles of {} replays of a CUDA graph that holds the whole method, by "
          "CUDA events, all methods in random order within each repetition. CUDA events resolve about half a "
          "microsecond.",
          result.at("repetitions").get<int>()),
      "hot: the method has just run on the same data; flushed: a buffer of twice the second-level cache was "
      "written before. MB are bytes that the algorithm has to move, as counted, not as measured; % copy is "
      "their rate over that of the faster of two copies of the logits' bytes at the same size and cache "
      "mode.",
      "x columns: how many times as long the other takes. TV: total variation between the law of the first "
      "token and the target's, over made-up rows; \"skip verification\" keeps every draft."};
}

std::vector<std::pair<std::string, std::string>> kernel_facts(const Json& result) {
  std::vector<std::pair<std::string, std::string>> facts{
      {"Version", "speclab " + result.at("version").get<std::string>()}};
  if (!is_dry(result)) {
    const Json& device = result.at("device");
    facts.emplace_back(
        "Device",
        fmt::format("{}, compute capability {}, {} multiprocessors, CUDA {} (driver: {})",
                    device.at("name").get<std::string>(), device.at("capability").get<std::string>(),
                    device.at("multiprocessors").get<int>(), device.at("runtime_cuda").get<std::string>(),
                    device.at("driver_cuda").get<std::string>()));
    facts.emplace_back("Machine", result.at("machine"));
    facts.emplace_back("Clocks before", result.at("clocks_before"));
    facts.emplace_back("Clocks after", result.at("clocks_after"));
  }
  facts.emplace_back("Command", result.at("command"));
  return facts;
}

std::string kernel_csv(const Json& result) {
  std::vector<std::vector<CsvValue>> rows;
  for (const Json& row : result.at("verification")) {
    std::vector<CsvValue> fields;
    for (const std::string& key : row_keys()) fields.push_back(csv_value(row.at(key)));
    rows.push_back(std::move(fields));
  }
  return csv(row_keys(), rows);
}

Page kernel_page(const Json& result) {
  Section section{"verification", "Verification", "", kernel_tables(result), {}, {}, kernel_notes(result)};
  if (!is_dry(result)) {
    for (const Figure& figure : kernel_figures(result)) section.figures.push_back(draw(figure));
  }
  return {"speclab: the speed of verification kernels",
          is_dry(result) ? "a dry run: nothing was measured" : "measured beside what the device allows",
          kernel_facts(result),
          {std::move(section)}};
}

Json read_kernel_result(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw UsageError(fmt::format("--from {}: cannot be read", file));
  const std::string content{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  Json result = Json::parse(content, nullptr, false);
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("--from {}: {}", file, why));
  };
  if (!result.is_object() || result.value("suite", Json()) != "kernels") {
    refuse("not a result.json of \"speclab bench kernels\"");
  }
  if (result.value("kind", Json()) != "measurement") refuse("a dry run; it has no measured rows");
  // Making all of it once finds what is missing or of another type.
  try {
    static_cast<void>(kernel_tables(result));
    static_cast<void>(kernel_notes(result));
    static_cast<void>(kernel_facts(result));
    static_cast<void>(kernel_csv(result));
    static_cast<void>(kernel_markdown(result));
    static_cast<void>(kernel_figures(result));
  } catch (const Json::exception& error) {
    refuse(fmt::format("damaged: {}", error.what()));
  }
  return result;
}

}  // namespace speclab
