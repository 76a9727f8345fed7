// Makes the cells of a config with "cases" or "sweep". Each cell is a complete config.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "experiments/config/experiment.hpp"
#include "experiments/config/shown_config.hpp"

namespace speclab {

struct GridPlan;

/// The cells of a config: its cases times the Cartesian product of its sweep, last axis fastest; one cell if
/// there is neither. Cells are made one at a time, so that a million need no memory. If the experiment
/// divides a cell (Experiment::split), its parts replace it.
class CellGrid {
 public:
  /// `config` must come from read_config. Throws ConfigError, also above a million cells.
  explicit CellGrid(const Config& config, bool split = true);

  std::size_t size() const { return size_; }
  /// Returns the experiment of all cells.
  const Experiment& experiment() const;
  /// Returns a cell. Throws ConfigError if its values make no valid config.
  CellSpec operator[](std::size_t index) const;

 private:
  CellSpec unsplit(std::size_t index) const;

  std::shared_ptr<const GridPlan> plan_;
  /// For each undivided cell, the index after its last part; empty if none is divided.
  std::vector<std::size_t> ends_;
  std::size_t size_ = 0;
};

/// Returns a cell's name in tables: its label and, for a case, the values of the config's sweep.
std::string cell_name(const ShownConfig& config, const CaseConfig& cell);

/// Returns all cells at once, undivided.
std::vector<CellSpec> expand(const Config& config);

/// Throws ConfigError if memory cannot hold so many cells with their results.
void require_memory_of_cells(std::size_t cells);

/// Returns the values of one sweep axis: a list, {"from", "to", "step"} or {"from", "to", "count"}.
std::vector<Json> axis_values(const Json& axis, const std::string& path);

}  // namespace speclab
