#include "experiments/shards/shard_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "experiments/config/config_error.hpp"
#include "experiments/run/setup.hpp"

namespace speclab {

namespace {

/// Cells that are run together.
struct Group {
  std::vector<std::size_t> cells;
  std::uint32_t batches = 1;
  double cost = 0;
};

double cost_of(const Config& cell) {
  return static_cast<double>(simulation_size(cell).total()) * (cell.gamma + 1);
}

std::vector<Group> groups_of(const Experiment& experiment, std::span<const CellSpec> cells) {
  std::vector<Group> groups;
  std::unordered_map<std::string, std::size_t> by_jobs;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Division division = experiment.division(cells[i].config);
    const auto known = division.jobs.empty() ? by_jobs.end() : by_jobs.find(division.jobs);
    if (known != by_jobs.end()) {
      groups[known->second].cells.push_back(i);
      continue;
    }
    if (!division.jobs.empty()) by_jobs.emplace(division.jobs, groups.size());
    groups.push_back({{i}, division.batches, cost_of(cells[i].config)});
  }
  return groups;
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

ShardPlan plan_shards(const Experiment& experiment, std::span<const CellSpec> cells, int shards,
                      Backend backend) {
  const std::vector<Group> groups = groups_of(experiment, cells);
  double total = 0;
  for (const Group& group : groups) total += group.cost;
  const double each = total / shards;

  const auto count = static_cast<std::size_t>(shards);
  ShardPlan plan{std::vector<Share>(count, {std::vector<bool>(cells.size()), {}}),
                 std::vector<double>(count)};
  double begin = 0;
  for (const Group& group : groups) {
    const double end = begin + group.cost;
    const auto shard_at = [&](double cost) {
      return std::clamp<std::size_t>(each > 0 ? static_cast<std::size_t>(cost / each) : 0, 0, count - 1);
    };
    const bool divides = backend == Backend::cpu && group.batches > 1 && group.cost > each / 4;
    // The batch at which shard k's part of the group begins.
    const auto batch_at = [&](std::size_t k) {
      const double share = (each * static_cast<double>(k) - begin) / group.cost;
      return static_cast<std::uint32_t>(std::lround(std::clamp(share, 0.0, 1.0) * group.batches));
    };
    const std::size_t first = divides ? shard_at(begin) : shard_at((begin + end) / 2);
    const std::size_t last = divides ? shard_at(end) : first;
    for (std::size_t k = first; k <= last; ++k) {
      const BatchSpan range =
          divides ? BatchSpan{k == first ? 0 : batch_at(k), k == last ? group.batches : batch_at(k + 1)}
                  : BatchSpan{0, group.batches};
      if (range.first == range.last) continue;
      const bool whole = range.first == 0 && range.last == group.batches;
      plan.costs[k] += group.cost * (range.last - range.first) / group.batches;
      for (const std::size_t cell : group.cells) {
        plan.shares[k].cells[cell] = true;
        if (!whole) plan.shares[k].divided.emplace(cell, range);
      }
    }
    begin = end;
  }
  return plan;
}

}  // namespace speclab
