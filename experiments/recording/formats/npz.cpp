// Reads rows that numpy.savez wrote.
#include <stdexcept>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/npy.hpp"
#include "experiments/recording/array_rows.hpp"
#include "experiments/recording/recording_format.hpp"

namespace speclab {

namespace {

std::string not_npz(const RecordingSource& source) {
  return source.bytes().starts_with("PK") ? "" : "is no zip archive, which begins with PK";
}

RecordingPart read_npz(const RecordingSource& source) {
  const auto reading = [&](const auto& work) {
    try {
      return work();
    } catch (const UsageError&) {
      throw;
    } catch (const std::runtime_error& error) {
      throw UsageError("{}: {}; save the rows by numpy.savez", source.name(), error.what());
    }
  };
  const NpzArchive archive = reading([&] { return NpzArchive(source.bytes()); });
  const auto find = [&](const std::string& name) -> std::optional<NpyArray> {
    if (!archive.has(name)) return std::nullopt;
    return reading([&] { return archive.array(name); });
  };
  return rows_of(source.name(), source.file(), archive.names(), find);
}

}  // namespace

RecordingFormat npz_format() {
  return {"npz", "Rows: arrays target [T, V], draft [T, V], tokens [T] and optionally sequence [T].", not_npz,
          read_npz};
}

}  // namespace speclab
