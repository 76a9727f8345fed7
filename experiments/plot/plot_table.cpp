#include "experiments/plot/plot_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "core/stop.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/json_io.hpp"
#include "experiments/results/presentation.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

PlotTable table_of(const std::string& text, const std::string& file) {
  const auto refuse = [&](const std::string& why) -> UsageError {
    return UsageError(
        fmt::format("{}: {}; expected result.json, its folder, or a CSV file with named columns", file, why));
  };
  std::vector<std::vector<std::string>> records;
  try {
    records = csv_records(text);
  } catch (const std::invalid_argument& error) {
    throw refuse(error.what());
  }
  if (records.size() < 2) throw refuse("no rows below a line of names");
  PlotTable table{std::move(records.front()), {}};
  for (const std::string& name : table.columns) {
    if (name.empty()) throw refuse("a column has no name");
    if (std::count(table.columns.begin(), table.columns.end(), name) > 1)
      throw refuse(fmt::format("two columns are named \"{}\"", name));
  }
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (records[i].size() != table.columns.size())
      throw refuse(
          fmt::format("row {} has {} fields under {} columns", i, records[i].size(), table.columns.size()));
    table.rows.push_back(std::move(records[i]));
  }
  return table;
}

RunResult read_run(const fs::path& file) {
  return in_file(file.string(), [&] {
    // Measured: of 10^5 cells of "predict", as JSON values and then as cells.
    constexpr double times_the_file = 5.3;
    require_memory(times_the_file * static_cast<double>(fs::file_size(file)), "/cells",
                   "all of them at once, as they are drawn,");
    const Json json = parse_json(read_text(file));
    if (json.is_object() && json.contains("suite"))
      throw UsageError(fmt::format(
          "{} is a result of speclab bench; its page and figures are written by bench --out", file.string()));
    RunResult run{read_result(json), {}};
    const fs::path timings = file.parent_path() / "timings.json";
    if (fs::exists(timings)) run.timings = read(timings_type(), parse_json(read_text(timings)), "");
    return run;
  });
}

}  // namespace

std::vector<std::vector<std::string>> csv_records(std::string_view text) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> record;
  std::string field;
  bool quoted = false;
  bool was_quoted = false;
  std::size_t line = 1;
  const auto end_field = [&] {
    record.push_back(std::move(field));
    field.clear();
    was_quoted = false;
  };
  const auto end_record = [&] {
    const bool blank = record.empty() && field.empty() && !was_quoted;
    if (blank) return;
    end_field();
    records.push_back(std::move(record));
    record.clear();
  };
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  StopCounter now_and_then(1 << 16);
  for (std::size_t i = 0; i < text.size(); ++i) {
    now_and_then.step();
    const char letter = text[i];
    if (letter == '\n') ++line;
    if (quoted) {
      if (letter != '"') {
        field += letter;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += letter;
        ++i;
      } else {
        quoted = false;
      }
    } else if (letter == '"') {
      if (!field.empty()) throw std::invalid_argument(fmt::format("line {}: a quote inside a field", line));
      quoted = was_quoted = true;
    } else if (letter == ',') {
      end_field();
    } else if (letter == '\n') {
      end_record();
    } else if (letter != '\r') {
      if (letter == '\0') throw std::invalid_argument(fmt::format("line {}: not text", line));
      field += letter;
    }
  }
  if (quoted) throw std::invalid_argument("a quote is not closed");
  end_record();
  return records;
}

PlotSource read_plot_source(const std::string& file) {
  fs::path path = file;
  std::error_code error;
  if (fs::is_directory(path, error)) path /= "result.json";
  if (!fs::exists(path, error)) {
    throw UsageError(
        path == fs::path(file)
            ? fmt::format("{}: no such file", file)
            : fmt::format("{}: holds no result.json; run a config with --out {} first", file, file));
  }
  PlotSource source;
  source.folder = path.parent_path().string();
  if (path.extension() == ".json") {
    source.name = fs::absolute(path).parent_path().filename().string();
    source.result = read_run(path);
    const RunResult& run = *source.result;
    source.table = table_of(csv_of(run.result, run.timings), path.string());
    return source;
  }
  source.name = path.stem().string();
  source.table = in_file(file, [&] { return table_of(read_text(path), file); });
  return source;
}

PlotTable joined_table(const std::vector<PlotSource>& sources) {
  if (sources.size() == 1) return sources.front().table;
  PlotTable all{{"source"}, {}};
  for (const PlotSource& source : sources) {
    for (const std::string& column : source.table.columns) {
      if (std::find(all.columns.begin(), all.columns.end(), column) == all.columns.end())
        all.columns.push_back(column);
    }
  }
  std::set<std::string> names;
  for (const PlotSource& source : sources) {
    std::string name = source.name;
    for (int copy = 2; !names.insert(name).second; ++copy) name = fmt::format("{} ({})", source.name, copy);
    for (const std::vector<std::string>& row : source.table.rows) {
      std::vector<std::string>& wide = all.rows.emplace_back(all.columns.size());
      wide.front() = name;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const auto at =
            std::find(all.columns.begin(), all.columns.end(), source.table.columns[i]) - all.columns.begin();
        wide[static_cast<std::size_t>(at)] = row[i];
      }
    }
  }
  return all;
}

}  // namespace speclab
