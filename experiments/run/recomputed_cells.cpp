#include "experiments/run/recomputed_cells.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/stop.hpp"
#include "experiments/run/cell_spec.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/timings.hpp"
#include "sim/parallel.hpp"

namespace speclab {

RecomputedCells::RecomputedCells(const Config& config, double confidence)
    : experiment_(*config.experiment), grid_(config), confidence_(confidence) {}

CellResult RecomputedCells::compute(std::size_t index) const {
  const CellSpec spec = grid_[index];
  JobList none;
  const Control control;
  Timings timings;
  CellResult result;
  static_cast<CaseConfig&>(result) = spec;
  experiment_.prepare(spec, none).finish(result, {confidence_, control, timings});
  return result;
}

/// Cells are made in parallel, some thousand at a time, and handed over one after another.
template <class Made, class Make>
void RecomputedCells::in_order(const Make& make, const std::function<void(const Made&)>& use) const {
  constexpr std::size_t cells_at_once = 4096;
  std::vector<Made> made;
  for (std::size_t first = 0; first < size(); first += cells_at_once) {
    made.clear();
    made.resize(std::min(cells_at_once, size() - first));
    for_each_index(made.size(), [&](std::size_t i) {
      end_if_stopped();
      made[i] = make(first + i);
    });
    for (const Made& one : made) use(one);
  }
}

void RecomputedCells::each(const std::function<void(const CellResult& cell)>& use) const {
  in_order<CellResult>([this](std::size_t cell) { return compute(cell); }, use);
}

void RecomputedCells::each_json(const std::function<void(const Json& cell)>& use) const {
  in_order<Json>([this](std::size_t cell) { return cell_json(experiment_, compute(cell)); }, use);
}

}  // namespace speclab
