// Reads a run's finished cells from its journals, one line at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "experiments/results/journal_file.hpp"

namespace speclab {

/// The place of each cell in the journals, 16 bytes per cell. Only one thread may use it at a time.
class JournaledCells {
 public:
  explicit JournaledCells(std::size_t cells) : places_(cells) {}

  std::size_t size() const { return places_.size(); }
  bool contains(std::size_t cell) const { return places_[cell].file != nowhere; }
  /// Returns the file that holds a cell.
  const std::filesystem::path& file(std::size_t cell) const { return files_[places_[cell].file]; }
  /// Returns a cell's JSON, valid until the next call. Throws std::runtime_error if the journal cannot be
  /// read.
  std::string_view json(std::size_t cell) const;

  /// Sets the file of the cells that are added next.
  void add_file(const std::filesystem::path& file);
  void add(std::size_t cell, std::uint64_t offset) {
    places_[cell] = {offset, static_cast<std::uint32_t>(files_.size() - 1)};
  }

 private:
  static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
  struct Place {
    std::uint64_t offset = 0;
    std::uint32_t file = nowhere;
  };
  struct OpenFile {
    std::uint32_t file;
    std::unique_ptr<JournalReader> reader;
  };

  std::vector<Place> places_;
  std::vector<std::filesystem::path> files_;
  mutable std::vector<OpenFile> open_;  ///< most recently used file at the end
};

/// All cells of a run, in the form of its result. Iteration throws Stopped (core/stop.hpp) on an interrupt.
class JournaledResult final : public CellSource {
 public:
  JournaledResult(const Experiment& experiment, JournaledCells cells)
      : experiment_(experiment), cells_(std::move(cells)) {}

  std::size_t size() const override { return cells_.size(); }
  void each(const std::function<void(const CellResult& cell)>& use) const override;
  void each_json(const std::function<void(const Json& cell)>& use) const override;

 private:
  const Experiment& experiment_;
  JournaledCells cells_;
};

}  // namespace speclab
