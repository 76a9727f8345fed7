#include "experiments/run/table_file.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <memory>

#include "experiments/format/config_error.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/npy.hpp"

namespace speclab {

namespace {

/// Rows with these marks around and between them; the shortest digits that read back as the same number.
std::string rows_text(const ContextRows& rows, const char* open, const char* between, const char* close,
                      const char* next) {
  std::string out;
  for (std::size_t at = 0; at < rows.probabilities.size(); at += rows.vocab) {
    if (at > 0) out += next;
    out += open;
    for (std::size_t i = 0; i < rows.vocab; ++i) {
      if (i > 0) out += between;
      out += fmt::format("{}", rows.probabilities[at + i]);
    }
    out += close;
  }
  return out;
}

void write_csv_table(const ContextRows& rows, const std::filesystem::path& file) {
  write_file_atomically(file, rows_text(rows, "", ",", "", "\n") + "\n");
}

void write_json_table(const ContextRows& rows, const std::filesystem::path& file) {
  write_file_atomically(file, "[" + rows_text(rows, "[", ", ", "]", ",\n ") + "]\n");
}

std::string npy_of(const ContextRows& rows) {
  return npy_text(rows.probabilities, {rows.probabilities.size() / rows.vocab, rows.vocab});
}

void write_npy_table(const ContextRows& rows, const std::filesystem::path& file) {
  write_file_atomically(file, npy_of(rows));
}

void write_npz_table(const ContextRows& rows, const std::filesystem::path& file) {
  const std::string array = npy_of(rows);
  zip_error_t error;
  zip_error_init(&error);
  // The archive is made in memory, so that the file is replaced whole.
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
  write_file_atomically(file, bytes);
}

}  // namespace

TableWriter table_writer(const std::filesystem::path& file) {
  const std::string extension = file.extension();
  if (extension == ".csv") return write_csv_table;
  if (extension == ".json") return write_json_table;
  if (extension == ".npy") return write_npy_table;
  if (extension == ".npz") return write_npz_table;
  throw UsageError(
      fmt::format("{}: expected a file that ends with .arpa, .csv, .json, .npy or .npz", file.string()));
}

}  // namespace speclab
