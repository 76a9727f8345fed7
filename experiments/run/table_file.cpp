// Writes tables of probabilities as files of numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zip.h>

#include <memory>
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

std::string npz_table(const ContextRows& rows) {
  const std::string array = npy_table(rows);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_t* archive = source != nullptr ? zip_open_from_source(source, ZIP_TRUNCATE, &error) : nullptr;
  if (archive == nullptr) throw std::runtime_error("libzip cannot make an archive");
  zip_source_keep(source);
  const std::unique_ptr<zip_source_t, decltype(&zip_source_free)> kept(source, zip_source_free);
  zip_source_t* entry = zip_source_buffer(archive, array.data(), array.size(), 0);
  const zip_int64_t index = zip_file_add(archive, "rows.npy", entry, ZIP_FL_ENC_UTF_8);
  if (index < 0 ||
      zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) != 0 ||
      zip_close(archive) != 0) {
    throw std::runtime_error("libzip cannot write the archive");
  }
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_stat(source, &stat) != 0 || zip_source_open(source) != 0) {
    throw std::runtime_error("libzip cannot read the archive");
  }
  std::string bytes(stat.size, '\0');
  const zip_int64_t read = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (read != static_cast<zip_int64_t>(bytes.size()))
    throw std::runtime_error("libzip cannot read the archive");
  return bytes;
}

}  // namespace

TableText table_text(const std::filesystem::path& file) {
  const std::string extension = file.extension();
  if (extension == ".csv") return csv_table;
  if (extension == ".json") return json_table;
  if (extension == ".npy") return npy_table;
  if (extension == ".npz") return npz_table;
  throw UsageError("{}: expected a file that ends with .arpa, .csv, .json, .npy or .npz", file.string());
}

}  // namespace speclab
