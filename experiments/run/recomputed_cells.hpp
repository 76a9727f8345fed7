// The cells of closed forms, computed whenever they are gone over: that takes less time than to write one,
// and a million of them over a gigabyte to hold.
#pragma once

#include "experiments/run/cells.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// Of an experiment that is `closed_forms`, with the sections of which `config` comes. Going over them ends
/// with Stopped (core/stop.hpp) once it shall.
class RecomputedCells final : public CellSource {
 public:
  RecomputedCells(const Config& config, double confidence);

  std::size_t size() const override { return grid_.size(); }
  void each(const std::function<void(const CellResult& cell)>& use) const override;
  void each_json(const std::function<void(const Json& cell)>& use) const override;

 private:
  CellResult compute(std::size_t index) const;
  template <class Made, class Make>
  void in_order(const Make& make, const std::function<void(const Made&)>& use) const;

  const Experiment& experiment_;
  CellGrid grid_;
  double confidence_;
};

}  // namespace speclab
