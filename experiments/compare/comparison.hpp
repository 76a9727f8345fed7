// The experiment "compare": drafters x gamma policies x tasks. A cell is one drafter on one task; it decodes
// the same sequences by every gamma and every policy, with random numbers that all of them share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiments/compare/contest.hpp"
#include "experiments/format/cells.hpp"
#include "sim/control.hpp"

namespace speclab {

/// Every cell of a config, once for each task and drafter: `set` says which, by name. Throws ConfigError for
/// names that occur twice.
std::vector<CellSpec> comparison_cells(const std::vector<CellSpec>& specs);

/// What a cell of comparison_cells runs.
struct Comparison {
  std::shared_ptr<const Task> task;
  Contestant contestant;
  Json settings;  ///< the section "compare"

  /// Tokens to decode in all, for progress.
  std::uint64_t workload() const;
};

/// Intervals that the result of a cell states.
int comparison_intervals(const Json& config);

/// Builds the parts of cells; tasks are shared between them.
class ComparisonMaker {
 public:
  Comparison make(const CellSpec& spec);

 private:
  Registry registry_;
  std::map<std::string, std::shared_ptr<const Task>> tasks_;
};

/// Runs a cell and adds to `out`:
///     simulated   alpha_overlap along text that the target generates (of the drafter's first token of
///                 a round, 0 where it has none), and of the fastest fixed gamma alpha_examined,
///                 alpha_drafted, tokens_per_round, speed
///     proposes    share of those contexts in which the drafter proposes something
///     best_gamma  the fastest fixed gamma
///     gammas      the same numbers for every gamma
///     policies    for every policy, and "gain": its speed less that of the best fixed gamma, paired
/// or "obstacle" when the drafter cannot draft for the task. When stopped, marks `out` partial and adds
/// nothing else.
void describe_comparison(Json& out, const Comparison& comparison, double confidence, const Control& control);

}  // namespace speclab
