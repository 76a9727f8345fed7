// What the experiment "compare" measures: tasks and drafters, built from a config.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/studies/compare/compare.hpp"
#include "sim/drafters/any_drafter.hpp"
#include "sim/drafters/point_rows.hpp"
#include "sim/sequence_decode.hpp"

namespace speclab {

class JobList;

/// Held-out documents to decode, and the target that decodes them.
struct BenchmarkTask {
  std::shared_ptr<const CorpusText> text;
  std::optional<Model> target;                ///< none: the text itself
  PointRows rows;                             ///< of the text itself
  std::vector<std::vector<Token>> documents;  ///< by sequence
  SequenceSet sequences;
  std::size_t first_look = 0;  ///< sequences before it; all unless there may be more looks

  /// Valid as long as the task.
  Model target_of(std::size_t sequence) const;
};

/// A drafter on a task.
struct BenchmarkEntry : MadeDrafter {
  double verify;  ///< time of each token that the target verifies
  AnyRule rule;

  /// Time of a round of so many drafted tokens, in target runs; of drafters whose runs are only known
  /// afterwards as if each token were one run.
  double round_time(std::int32_t drafted) const;
  /// Time of the rounds of a tally, in target runs.
  double time(const Tally& tally) const;
};

/// A task of the config, at `path`, shared between all that ask for it. Throws ConfigError where no document
/// suits it.
std::shared_ptr<const BenchmarkTask> shared_task(const TaskConfig& task, const std::string& path,
                                                 const Config& config, JobList& jobs);

/// A drafter of the config on a task that is at `task_path`. Throws ConfigError.
BenchmarkEntry make_entry(const DrafterConfig& drafter, const TaskConfig& task_config,
                          const std::string& task_path, const BenchmarkTask& task, const Config& config,
                          ModelFactory& factory);

}  // namespace speclab
