// Builds the tasks and drafters of the experiment "compare" from a config.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "experiments/catalog/drafters/made_drafter.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/studies/compare/compare.hpp"
#include "sim/drafters/any_drafter.hpp"
#include "sim/drafters/point_rows.hpp"
#include "sim/sequence_decode.hpp"

namespace speclab {

class JobList;

/// The held-out documents to decode, and the target that decodes them.
struct BenchmarkTask {
  std::shared_ptr<const CorpusText> text;
  std::optional<BuiltModel> target;           ///< empty: the text itself is the target
  PointRows rows;                             ///< rows of the text itself
  std::vector<std::vector<Token>> documents;  ///< by sequence
  SequenceSet sequences;

  /// Returns the target, valid as long as the task.
  Model target_of(std::size_t sequence) const;
};

/// A drafter on a task.
struct BenchmarkEntry : MadeDrafter {
  double verify;  ///< extra time of a target run per verified token, in target runs
  AnyRule rule;
  std::string lossy_rule;  ///< its name if it is not lossless for the target, else empty

  /// Returns the time of a round with `drafted` drafted tokens, in target runs. Counts one run per token for
  /// drafters whose number of runs is known only afterwards.
  double round_time(std::int32_t drafted) const;
  /// Returns the time of a tally's rounds, in target runs.
  double time(const Tally& tally) const;
  /// Returns the range of speeds of rounds whose policy ends drafting at `most` tokens: the slowest accept
  /// nothing, the fastest everything.
  Support possible_speedups(std::int32_t most) const;
};

/// Returns the config's task at `path`, shared among callers. Throws ConfigError if too few documents suit.
std::shared_ptr<const BenchmarkTask> shared_task(const TaskConfig& task, const std::string& path,
                                                 const Config& config, JobList& jobs);

/// Makes a drafter of the config for the task at `task_path`. Throws ConfigError.
BenchmarkEntry make_entry(const DrafterConfig& drafter, const TaskConfig& task_config,
                          const std::string& task_path, const BenchmarkTask& task, const Config& config,
                          ModelFactory& factory);

}  // namespace speclab
