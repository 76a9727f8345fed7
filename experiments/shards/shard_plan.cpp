#include "experiments/shards/shard_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/config/cell_spec.hpp"
#include "experiments/run/setup.hpp"

namespace speclab {

namespace {

/// Cells held at a time, with everything that they need to run: about 10 MB.
constexpr std::size_t cells_in_turn = 4096;

double cost_of(const Config& cell) {
  return static_cast<double>(simulation_size(cell).total()) * (cell.gamma + 1);
}

/// Returns the number of separately runnable batches of a cell; 1 if the cell cannot be cut.
std::uint32_t batches_of(CutBetween cut, const SimulationSize& size) {
  switch (cut) {
    case CutBetween::nothing:
      return 1;
    case CutBetween::trials:
      return size.has_independent_trials() ? size.cut().count() : 1;
    case CutBetween::rounds:
      return size.independent_cut().count();
  }
  return 1;
}

/// Returns the part of a cell's config that its jobs depend on, for experiments whose cells share jobs.
std::string said_of_jobs(const Config& cell) {
  Json said = config_json(cell);
  for (const std::string& key : cell.experiment->not_of_jobs) said.erase(key);
  return said.dump();
}

}  // namespace

ShardPlan::ShardPlan(const CellGrid& cells, int shards, Backend backend)
    : shards_(shards), simulation_of_(cells.size()) {
  std::unordered_map<std::string, std::uint32_t> by_jobs;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) add(cells[cell].config, cell, backend, by_jobs);
  const double total = simulations_.empty() ? 0 : simulations_.back().begin + simulations_.back().cost;
  each_ = total / shards;
  const auto shard_at = [&](double cost) {
    return each_ > 0 ? static_cast<std::int32_t>(std::clamp(cost / each_, 0.0, shards - 1.0)) : 0;
  };
  for (Simulation& one : simulations_) {
    const double end = one.begin + one.cost;
    one.first = one.last = shard_at((one.begin + end) / 2);
    if (one.batches == 1 || one.cost <= each_ / 4) continue;
    one.first = shard_at(one.begin);
    one.last = shard_at(end);
    // The first and last shard may have no batch.
    while (one.first < one.last && batch_at(one, one.first + 1) == 0) ++one.first;
    while (one.first < one.last && batch_at(one, one.last) == one.batches) --one.last;
  }
}

void ShardPlan::add(const Config& cell, std::size_t at, Backend backend,
                    std::unordered_map<std::string, std::uint32_t>& by_jobs) {
  const Experiment& experiment = *cell.experiment;
  auto place = static_cast<std::uint32_t>(simulations_.size());
  if (experiment.cut == CutBetween::trials)
    place = by_jobs.try_emplace(said_of_jobs(cell), place).first->second;
  simulation_of_[at] = place;
  if (place < simulations_.size()) return;
  const SimulationSize size = simulation_size(cell);
  Simulation one{.cost = cost_of(cell)};
  if (!simulations_.empty()) one.begin = simulations_.back().begin + simulations_.back().cost;
  if (backend == Backend::cpu && !cell.simulation.until) one.batches = batches_of(experiment.cut, size);
  simulations_.push_back(one);
}

/// Returns the first batch of the simulation that a shard runs.
std::uint32_t ShardPlan::batch_at(const Simulation& simulation, int shard) const {
  const double before = (each_ * shard - simulation.begin) / simulation.cost;
  return static_cast<std::uint32_t>(std::lround(std::clamp(before, 0.0, 1.0) * simulation.batches));
}

BatchSpan ShardPlan::span_of(const Simulation& simulation, int shard) const {
  return {shard == simulation.first ? 0 : batch_at(simulation, shard),
          shard == simulation.last ? simulation.batches : batch_at(simulation, shard + 1)};
}

/// Divides cells into turns, each simulation's cells in one turn.
std::vector<Turn> ShardPlan::turns_of(std::vector<CellTask> tasks) const {
  std::stable_sort(tasks.begin(), tasks.end(), [&](const CellTask& a, const CellTask& b) {
    return simulation_of_[a.cell] < simulation_of_[b.cell];
  });
  std::vector<Turn> turns;
  for (const CellTask& task : tasks) {
    const bool full =
        turns.empty() || (turns.back().size() >= cells_in_turn &&
                          simulation_of_[turns.back().back().cell] != simulation_of_[task.cell]);
    if (full) turns.emplace_back();
    turns.back().push_back(task);
  }
  return turns;
}

std::vector<Turn> ShardPlan::turns(int shard, const std::function<bool(std::size_t cell)>& wanted) const {
  std::vector<CellTask> tasks;
  for (std::size_t cell = 0; cell < cells(); ++cell) {
    if (!runs(cell, shard) || !wanted(cell)) continue;
    CellTask& task = tasks.emplace_back(CellTask{.cell = cell});
    if (is_cut(cell)) task.batches = span_of(simulation_at(cell), shard - 1);
  }
  return turns_of(std::move(tasks));
}

std::vector<Turn> ShardPlan::turns_of_cut_cells() const {
  std::vector<CellTask> tasks;
  for (std::size_t cell = 0; cell < cells(); ++cell) {
    if (is_cut(cell)) tasks.push_back({.cell = cell});
  }
  return turns_of(std::move(tasks));
}

std::vector<double> ShardPlan::costs() const {
  std::vector<double> costs(static_cast<std::size_t>(shards_));
  for (const Simulation& one : simulations_) {
    for (std::int32_t shard = one.first; shard <= one.last; ++shard) {
      const BatchSpan span = span_of(one, shard);
      costs[static_cast<std::size_t>(shard)] += one.cost * (span.last - span.first) / one.batches;
    }
  }
  return costs;
}

bool ShardPlan::runs(std::size_t cell, int shard) const {
  const Simulation& simulation = simulation_at(cell);
  if (shard - 1 < simulation.first || shard - 1 > simulation.last) return false;
  const BatchSpan span = span_of(simulation, shard - 1);
  return span.first < span.last;
}

std::pair<int, int> ShardPlan::shards_of(std::size_t cell) const {
  return {simulation_at(cell).first + 1, simulation_at(cell).last + 1};
}

}  // namespace speclab
