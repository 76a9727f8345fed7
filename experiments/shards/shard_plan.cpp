#include "experiments/shards/shard_plan.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <unordered_map>

#include "experiments/config/config.hpp"
#include "experiments/run/setup.hpp"

namespace speclab {

namespace {

/// Cells held at a time, with everything that they need to run: about 10 MB.
constexpr std::size_t cells_in_turn = 4096;

/// Returns the part of a cell's config that its jobs depend on, for experiments whose cells share jobs.
std::string said_of_jobs(const Config& cell) {
  Json said = config_json(cell);
  for (const std::string& key : cell.experiment->not_of_jobs) said.erase(key);
  return said.dump();
}

}  // namespace

ShardPlan::ShardPlan(const CellGrid& cells, int shards) : simulation_of_(cells.size()) {
  std::unordered_map<std::string, std::uint32_t> by_jobs;
  std::vector<double> costs;
  for (std::size_t at = 0; at < cells.size(); ++at) {
    const Config cell = cells[at].config;
    auto place = static_cast<std::uint32_t>(costs.size());
    if (!cell.experiment->not_of_jobs.empty())
      place = by_jobs.try_emplace(said_of_jobs(cell), place).first->second;
    if (place == costs.size())
      costs.push_back(static_cast<double>(simulation_size(cell).total()) * (cell.gamma + 1));
    simulation_of_[at] = place;
  }
  const double each = std::accumulate(costs.begin(), costs.end(), 0.0) / shards;
  double before = 0;
  for (const double cost : costs) {
    const double middle = before + cost / 2;
    shard_of_simulation_.push_back(
        each > 0 ? 1 + static_cast<std::int32_t>(std::clamp(middle / each, 0.0, shards - 1.0)) : 1);
    before += cost;
  }
}

std::vector<Turn> ShardPlan::turns(int shard, const std::function<bool(std::size_t cell)>& wanted) const {
  Turn own;
  for (std::size_t cell = 0; cell < cells(); ++cell) {
    if (shard_of(cell) == shard && wanted(cell)) own.push_back(cell);
  }
  // Each simulation's cells are in one turn.
  std::stable_sort(own.begin(), own.end(),
                   [&](std::size_t a, std::size_t b) { return simulation_of_[a] < simulation_of_[b]; });
  std::vector<Turn> turns;
  for (const std::size_t cell : own) {
    if (turns.empty() ||
        (turns.back().size() >= cells_in_turn && simulation_of_[turns.back().back()] != simulation_of_[cell]))
      turns.emplace_back();
    turns.back().push_back(cell);
  }
  return turns;
}

}  // namespace speclab
