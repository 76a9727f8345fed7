#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/distribution/number.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/npy.hpp"
#include "experiments/catalog/models/model_factory.hpp"

namespace speclab {

namespace {

using Rows = std::vector<std::vector<double>>;

struct TableParameters {
  std::optional<Rows> rows;
  std::optional<std::string> file;
};

const Typed<Rows>& rows_type() {
  static const auto type = list(list(number(0, 1e300), 1, max_model_vocab), 1, max_model_vocab);
  return type;
}

/// Returns the rows of an array [V], [contexts, V], or [V, V, ..., V] of floating-point numbers of any width.
Rows rows_in(const NpyArray& array) {
  if (array.kind != 'f' || array.shape.empty() || array.size() == 0)
    throw std::runtime_error("expected an array of floating-point numbers [contexts, V]");
  const std::size_t vocab = array.shape.back();
  Rows rows;
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (i % vocab == 0) rows.emplace_back();
    rows.back().push_back(array.number(i));
  }
  return rows;
}

Rows numpy_rows(const std::string& text, const std::filesystem::path& file) {
  try {
    if (file.extension() == ".npy") return rows_in(parse_npy(text));
    const NpzArchive archive(text);
    const std::vector<std::string> names = archive.names();
    if (names.size() == 1) return rows_in(archive.array(names.front()));
    if (archive.has("rows")) return rows_in(archive.array("rows"));
    throw std::runtime_error(fmt::format("{} arrays; expected one, or one called \"rows\"", names.size()));
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(
        fmt::format("{}: {}; save the rows by numpy.save", file.string(), error.what()));
  }
}

Rows parse_rows(const std::string& text, const std::filesystem::path& file) {
  if (file.extension() == ".npy" || file.extension() == ".npz") return numpy_rows(text, file);
  if (file.extension() == ".json") return read(rows_type(), parse_json(text), "");
  return read_numbers(text, file.string());
}

/// Reads rows from .csv (one row per line, commas between numbers), .json (array of arrays), or an array
/// file. Throws ConfigError at `path`, naming the place in the file.
Rows read_rows(const std::filesystem::path& file, const std::string& path) {
  Rows rows;
  try {
    rows = read_in_memory(file.string(), [&] { return parse_rows(read_text(file), file); });
  } catch (const ConfigError& error) {
    const std::string place = error.path == "/" ? "" : error.path + ": ";
    throw ConfigError(path, "{}: {}{}", file.string(), place, error.what());
  } catch (const std::invalid_argument& error) {
    throw ConfigError(path, error.what());
  }
  if (rows.empty()) throw ConfigError(path, "{}: has no rows", file.string());
  return rows;
}

BuiltModel make_table(const TableParameters& parameters, const std::string& path) {
  const std::string here = path + (parameters.rows ? "/rows" : "/file");
  const Rows rows = parameters.rows ? *parameters.rows : read_rows(*parameters.file, here);
  const std::size_t vocab = rows.front().size();
  std::vector<double> weights;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != vocab) {
      throw ConfigError(fmt::format("{}/{}", here, i), "has {} probabilities; the first row has {}",
                        rows[i].size(), vocab);
    }
    // Weights may have any sum. Numbers that are all below 1 are meant as probabilities.
    const double total = std::accumulate(rows[i].begin(), rows[i].end(), 0.0);
    const bool probabilities = std::ranges::all_of(rows[i], [](double one) { return one < 1; });
    if (probabilities && total > 0 && std::abs(total - 1) > row_tolerance) {
      throw ConfigError(
          fmt::format("{}/{}", here, i),
          "sums to {:.6g}, not 1; expected probabilities; weights have a number that is 1 or more", total);
    }
    weights.insert(weights.end(), rows[i].begin(), rows[i].end());
  }
  const std::int32_t order = at_path(here, [&] { return table_order(rows.size(), vocab); });
  return {TableModel(static_cast<std::int32_t>(vocab), order, std::move(weights))};
}

/// Returns the facts. Rows in the config are few enough to build the table at once; a file is only tested for
/// existence, which takes no time, and read by `make`.
ModelFacts table_facts(const SelectedKind& selected, const FactsRequest&) {
  const auto& parameters = selected.as<TableParameters>();
  if (parameters.rows.has_value() == parameters.file.has_value())
    throw ConfigError(selected.path, "a table needs either \"rows\" or \"file\"");
  if (parameters.rows || !std::filesystem::exists(*parameters.file))
    return facts_of(make_table(parameters, selected.path));
  return {.stored_rows = true, .words = false};
}

std::optional<ExactRows> exact_table(const SelectedKind& selected, std::size_t,
                                     const std::optional<ExactRows>&) {
  const auto& parameters = selected.as<TableParameters>();
  if (!parameters.rows) return std::nullopt;
  ExactRows rows;
  for (const auto& row : *parameters.rows) {
    rows.emplace_back();
    for (const double weight : row) rows.back().emplace_back(decimal_fraction(weight));
  }
  normalise_exactly(rows);
  return rows;
}

}  // namespace

ModelKind table_model() {
  using P = TableParameters;
  ModelKind made = kind_entry<ModelKind, P>(
      "table", "Stored rows: one row (i.i.d. tokens), or vocab^n rows for the contexts of n tokens.",
      {field("rows", &P::rows, rows_type(),
             "Rows of probabilities. Rows with a number that is 1 or more are weights, and are normalised."),
       field("file", &P::file, input_file(),
             "Instead of \"rows\" a .csv file (one row per line), .json (array of rows), .npy or .npz (array "
             "[contexts, V]).")},
      [](const P& own, const std::string& path, const ModelRequest&) { return make_table(own, path); });
  made.facts = table_facts;
  made.exact_rows = exact_table;
  return made;
}

}  // namespace speclab
