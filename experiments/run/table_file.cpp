// Writes tables of probabilities as files of numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/npy.hpp"
#include "experiments/run/model_file.hpp"

namespace speclab {

namespace {

/// Returns each row as text: its numbers, separated by `between`, with the fewest digits that read back
/// unchanged.
std::vector<std::string> row_texts(const ContextRows& rows, const char* between) {
  std::vector<std::string> texts;
  for (auto row = rows.probabilities.begin(); row != rows.probabilities.end();) {
    const auto end = row + static_cast<std::ptrdiff_t>(rows.vocab);
    texts.push_back(fmt::format("{}", fmt::join(row, end, between)));
    row = end;
  }
  return texts;
}

std::string csv_table(const ContextRows& rows) {
  return fmt::format("{}\n", fmt::join(row_texts(rows, ","), "\n"));
}

std::string json_table(const ContextRows& rows) {
  return fmt::format("[[{}]]\n", fmt::join(row_texts(rows, ", "), "],\n ["));
}

std::string npy_table(const ContextRows& rows) {
  return npy_text(rows.probabilities, {rows.probabilities.size() / rows.vocab, rows.vocab});
}

}  // namespace

TableText table_text(const std::filesystem::path& file) {
  const std::string extension = file.extension();
  if (extension == ".csv") return csv_table;
  if (extension == ".json") return json_table;
  if (extension == ".npy") return npy_table;
  throw UsageError("{}: expected a file that ends with .arpa, .csv, .json or .npy", file.string());
}

}  // namespace speclab
