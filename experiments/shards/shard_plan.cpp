#include "experiments/shards/shard_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "experiments/format/config_error.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/run/until.hpp"

namespace speclab {

namespace {

/// So many cells are held at a time, with what they need to run: about 10 MB.
constexpr std::size_t cells_in_block = 4096;

double cost_of(const Config& cell) {
  return static_cast<double>(simulation_size(cell).total()) * (cell.gamma + 1);
}

}  // namespace

Shard shard_named(const std::string& words) {
  Shard shard;
  const char* const end = words.data() + words.size();
  const auto index = std::from_chars(words.data(), end, shard.index);
  if (index.ec == std::errc() && index.ptr != end && *index.ptr == '/') {
    const auto count = std::from_chars(index.ptr + 1, end, shard.count);
    if (count.ec == std::errc() && count.ptr == end && 1 <= shard.index && shard.index <= shard.count &&
        shard.count <= most_shards) {
      return shard;
    }
  }
  throw UsageError(
      fmt::format("--shard {}: expected I/N with 1 <= I <= N <= {}, for example 3/8", words, most_shards));
}

ShardPlan::ShardPlan(const Experiment& experiment, const CellGrid& cells, int shards, Backend backend,
                     const std::optional<LookCells>& look)
    : shards_(shards), look_(look ? look->look : 1), group_of_(cells.size(), no_group) {
  std::unordered_map<std::string, std::uint32_t> by_jobs;
  if (look) {
    for (const std::size_t cell : look->cells) add(experiment, cell, cells[cell].config, backend, by_jobs);
  } else {
    for (std::size_t cell = 0; cell < cells.size(); ++cell)
      add(experiment, cell, cells[cell].config, backend, by_jobs);
  }
  const double total = groups_.empty() ? 0 : groups_.back().begin + groups_.back().cost;
  each_ = total / shards;
  const auto shard_at = [&](double cost) {
    return each_ > 0 ? static_cast<std::int32_t>(std::clamp(cost / each_, 0.0, shards - 1.0)) : 0;
  };
  for (Group& group : groups_) {
    const double end = group.begin + group.cost;
    group.first = group.last = shard_at((group.begin + end) / 2);
    if (group.batches == 1 || group.cost <= each_ / 4) continue;
    group.first = shard_at(group.begin);
    group.last = shard_at(end);
    // A shard at either end may be left without a batch.
    while (group.first < group.last && batch_at(group, group.first + 1) == 0) ++group.first;
    while (group.first < group.last && batch_at(group, group.last) == group.batches) --group.last;
  }
}

void ShardPlan::add(const Experiment& experiment, std::size_t at, const Config& cell, Backend backend,
                    std::unordered_map<std::string, std::uint32_t>& by_jobs) {
  Division division = experiment.division(cell);
  auto group = static_cast<std::uint32_t>(groups_.size());
  if (!division.jobs.empty()) group = by_jobs.try_emplace(std::move(division.jobs), group).first->second;
  group_of_[at] = group;
  if (group < groups_.size()) return;
  Group one{.cost = cost_of(cell), .first_cell = at};
  if (!groups_.empty()) one.begin = groups_.back().begin + groups_.back().cost;
  if (backend == Backend::cpu) one.batches = division.batches;
  if (cell.simulation.until) {
    one.looks = one.batches > 1 && cell.simulation.trials > 1 && group_of_.size() <= most_cells_in_looks;
    one.batches = 1;
  }
  if (one.looks) {
    const BatchSpan added = batches_of_look(simulation_size(cell), look_);
    one.first_batch = added.first;
    one.batches = added.last - added.first;
    one.cost *= std::exp2(std::max(look_ - 2, 0));
  }
  groups_.push_back(one);
}

/// The batch at which a shard's part of the group begins.
std::uint32_t ShardPlan::batch_at(const Group& group, int shard) const {
  const double share = (each_ * shard - group.begin) / group.cost;
  return static_cast<std::uint32_t>(std::lround(std::clamp(share, 0.0, 1.0) * group.batches));
}

BatchSpan ShardPlan::range_of(const Group& group, int shard) const {
  return {group.first_batch + (shard == group.first ? 0 : batch_at(group, shard)),
          group.first_batch + (shard == group.last ? group.batches : batch_at(group, shard + 1))};
}

std::vector<std::vector<std::size_t>> ShardPlan::blocks_of(
    const std::function<bool(std::size_t cell)>& wanted) const {
  std::vector<std::size_t> cells;
  for (std::size_t cell = 0; cell < group_of_.size(); ++cell) {
    if (has(cell) && wanted(cell)) cells.push_back(cell);
  }
  std::stable_sort(cells.begin(), cells.end(),
                   [&](std::size_t a, std::size_t b) { return group_of_[a] < group_of_[b]; });
  std::vector<std::vector<std::size_t>> blocks;
  for (const std::size_t cell : cells) {
    const bool full = blocks.empty() || (blocks.back().size() >= cells_in_block &&
                                         group_of_[blocks.back().back()] != group_of_[cell]);
    if (full) blocks.emplace_back();
    blocks.back().push_back(cell);
  }
  return blocks;
}

Share ShardPlan::share(int shard, const std::function<bool(std::size_t cell)>& wanted) const {
  Share share;
  share.look = look_;
  share.blocks = blocks_of([&](std::size_t cell) {
    if (!runs(cell, shard) || !wanted(cell)) return false;
    if (divided(cell)) share.divided.emplace(cell, range_of(group_at(cell), shard - 1));
    return true;
  });
  return share;
}

std::vector<double> ShardPlan::costs() const {
  std::vector<double> costs(static_cast<std::size_t>(shards_));
  for (const Group& group : groups_) {
    for (std::int32_t shard = group.first; shard <= group.last; ++shard) {
      const BatchSpan range = range_of(group, shard);
      costs[static_cast<std::size_t>(shard)] += group.cost * (range.last - range.first) / group.batches;
    }
  }
  return costs;
}

bool ShardPlan::runs(std::size_t cell, int shard) const {
  if (!has(cell)) return false;
  const Group& group = group_at(cell);
  if (shard - 1 < group.first || shard - 1 > group.last) return false;
  const BatchSpan range = range_of(group, shard - 1);
  return range.first < range.last;
}

std::pair<int, int> ShardPlan::shards_of(std::size_t cell) const {
  if (!has(cell)) return {1, 0};
  return {group_at(cell).first + 1, group_at(cell).last + 1};
}

}  // namespace speclab
