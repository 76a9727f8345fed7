// A config with "cases" or "sweep" stands for many: its cells, each a complete config.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "experiments/config/experiment.hpp"

namespace speclab {

struct GridPlan;

/// The cells of a config, made one at a time, so that a million need no memory: cases times the Cartesian
/// product of the sweep, the last axis fastest; one cell when there is neither. Those that its experiment
/// makes of one (Experiment::split) stand in its place.
class CellGrid {
 public:
  /// `config` comes from read_config. Throws ConfigError, also when there are more than a million cells.
  explicit CellGrid(const Config& config, bool split = true);

  std::size_t size() const { return size_; }
  /// Of all cells.
  const Experiment& experiment() const;
  /// Throws ConfigError for values that make no config.
  CellSpec operator[](std::size_t index) const;

 private:
  CellSpec unsplit(std::size_t index) const;

  std::shared_ptr<const GridPlan> plan_;
  std::vector<std::size_t> ends_;  ///< of cells that are split: one past the last that each became
  std::size_t size_ = 0;
};

/// All cells at once, unsplit.
std::vector<CellSpec> expand(const Config& config);

/// Throws ConfigError for so many cells with their results that this machine's memory does not hold them.
void require_memory_of_cells(std::size_t cells);

/// The values of one sweep axis: a list, or {"from", "to", "step"} or {"from", "to", "count"}.
std::vector<Json> axis_values(const Json& axis, const std::string& path);

}  // namespace speclab
