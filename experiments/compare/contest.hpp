// What the experiment "compare" sets against one another: tasks, drafters and policies, built from a config.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/corpora.hpp"
#include "experiments/format/shape.hpp"
#include "experiments/registry.hpp"
#include "sim/drafters/any_drafter.hpp"
#include "sim/policies/any_policy.hpp"
#include "sim/sequence_decode.hpp"
#include "sim/text/text_target.hpp"

namespace speclab {

/// Held-out documents to decode, and the target that decodes them.
struct Task {
  std::string name;
  Json config;  ///< what models of this task are built from: corpus and sampling options
  std::shared_ptr<const CorpusText> text;
  std::optional<Model> target;                ///< none: the text itself
  PointRows rows;                             ///< of the text itself
  std::vector<std::vector<Token>> documents;  ///< by sequence
  SequenceSet plan;
};

/// A drafter on a task.
struct Contestant {
  std::vector<std::shared_ptr<const Model>> models;  ///< that the drafter points to
  std::optional<AnyDrafter> drafter;                 ///< none when it cannot draft for this task
  std::string unsupported_reason;                    ///< why it cannot
  std::vector<double> costs;  ///< of a run of the drafter, of its inner drafter, and so on
  double verify = 0;          ///< of each token that the target verifies
  AnyRule rule;

  /// Time of a round of so many drafted tokens; of a hierarchy as if each were one run.
  double round_time(std::int32_t drafted) const;
  /// Time of the rounds of a tally, in target runs.
  double time(const Tally& tally) const;
};

/// `spec` is one of compare/tasks of `config`, at `path`. Throws ConfigError where no document suits it.
std::shared_ptr<const Task> make_task(const Json& spec, const std::string& path, const Json& config,
                                      Registry& registry);

/// `spec` is one of compare/drafters of `config`, at `path`.
Contestant make_contestant(const Json& spec, const std::string& path, const Json& config, const Task& task,
                           Registry& registry);

AnyPolicy make_policy(const Json& spec, const Contestant& contestant);

/// The "name" of a task, drafter or policy, or else its kind.
std::string name_of(const Json& spec);

/// Throws ConfigError at `path` when two of a list have one name.
void check_distinct_names(const Json& specs, const std::string& path);

}  // namespace speclab
