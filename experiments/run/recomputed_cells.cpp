// Computes cells of closed forms each time they are needed, which takes less time than writing them; a
// million of them would need over a gigabyte.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/stop.hpp"
#include "experiments/config/cells.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/timings.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

class RecomputedCells final : public CellSource {
 public:
  RecomputedCells(const Config& config, double confidence) : grid_(config), confidence_(confidence) {}

  std::size_t size() const override { return grid_.size(); }
  void each(const std::function<void(const CellResult& cell)>& use) const override {
    in_order<CellResult>([this](std::size_t cell) { return compute(cell); }, use);
  }
  void each_json(const std::function<void(const Json& cell)>& use) const override {
    in_order<Json>([this](std::size_t cell) { return cell_json(grid_.experiment(), compute(cell)); }, use);
  }

 private:
  CellResult compute(std::size_t index) const {
    const CellSpec spec = grid_[index];
    JobList none;
    const Control control;
    Timings timings;
    CellResult result;
    static_cast<CaseConfig&>(result) = spec;
    grid_.experiment().prepare(spec, none).finish(result, {confidence_, control, timings});
    return result;
  }

  /// Makes cells in parallel, some thousand at a time, and passes them to `use` in order.
  template <class Made, class Make>
  void in_order(const Make& make, const std::function<void(const Made&)>& use) const {
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

  CellGrid grid_;
  double confidence_;
};

}  // namespace

std::shared_ptr<const CellSource> recomputed_cells(const Config& config, double confidence) {
  return std::make_shared<const RecomputedCells>(config, confidence);
}

}  // namespace speclab
