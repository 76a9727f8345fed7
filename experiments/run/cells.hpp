// A config with "cases" or "sweep" stands for many: its cells, each a complete config.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "experiments/run/experiment.hpp"

namespace speclab {

struct GridPlan;

/// The cells of a config, made one at a time, so that a million need no memory: cases times the Cartesian
/// product of the sweep, the last axis fastest; one cell when there is neither. The parts of a cell that its
/// experiment cuts (Experiment::cuts_cells) stand in its place.
class CellGrid {
 public:
  /// `config` comes from read_config. Throws ConfigError, also when there are more than a million cells.
  explicit CellGrid(const Config& config, bool cut = true);
  ~CellGrid();
  CellGrid(CellGrid&&) noexcept;

  std::size_t size() const { return size_; }
  /// Throws ConfigError for values that make no config.
  CellSpec operator[](std::size_t index) const;
  /// Number of cases, then of values of each axis; their product is the size unless cells are cut.
  const std::vector<std::size_t>& extents() const { return extents_; }

 private:
  CellSpec uncut(std::size_t index) const;

  std::unique_ptr<const GridPlan> plan_;
  std::vector<std::size_t> extents_;
  std::vector<std::size_t> ends_;  ///< of cells that are cut: one past the last part of each
  std::size_t size_ = 0;
};

/// All cells at once, uncut.
std::vector<CellSpec> expand(const Config& config);

/// Throws ConfigError for so many cells with their results that this machine's memory does not hold them.
void require_memory_of_cells(std::size_t cells);

/// The values of one sweep axis: a list, or {"from", "to", "step"} or {"from", "to", "count"}.
std::vector<Json> axis_values(const Json& axis, const std::string& path);

}  // namespace speclab
