// The experiment "compare": its section of a config and its results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

struct Presentation;

/// Text to decode, and the target that decodes it.
struct TaskConfig {
  std::string name;
  CorpusConfig corpus;
  std::optional<ModelConfig> target;  ///< without one the text itself is the target
  std::int32_t sequences = 64;        ///< held-out documents to decode
  std::int32_t tokens = 200;          ///< to decode in each, at most
  std::int32_t prompt_tokens = 100;   ///< of each document
  std::string prompt_until;           ///< instead: all tokens up to and with this one; empty: not so
};
const Typed<TaskConfig>& task_type();

struct CompareSection {
  std::vector<TaskConfig> tasks;
  std::vector<DrafterConfig> drafters;
  std::vector<std::int32_t> gammas{1, 2, 3, 4, 5, 6, 8, 10};
  std::vector<PolicyConfig> policies;
  double verify = 0;          ///< time of a target run for each token that it verifies, beyond 1
  std::int32_t batches = 32;  ///< of whole sequences, at most, for intervals
  /// Names of the tasks and drafters that are run; all without.
  std::optional<std::vector<std::string>> only_tasks, only_drafters;
};

/// Fewer sequences have no intervals: where 15% of texts can be copied and the rest cannot, Student's t
/// covers .74 of 8 at 95%. From so many on skewness is corrected for (ratio_interval).
inline constexpr std::uint64_t least_judged_sequences = least_skewed_batches;

/// Numbers of one run of a drafter on a task; none where they cannot be estimated.
struct ComparedNumbers {
  std::optional<Interval> alpha_examined, alpha_drafted, drafted_per_round, tokens_per_target_step, speedup;
};

struct GammaResult : ComparedNumbers {
  std::int32_t gamma = 0;
};

struct PolicyResult : ComparedNumbers {
  std::string name;
  std::string kind;
  std::optional<Interval> gain;                   ///< speedup less that of the best fixed gamma, paired
  std::optional<Interval> speedup_drafting_free;  ///< of the upper bound alone

  bool upper_bound() const { return speedup_drafting_free.has_value(); }
};

/// Either a reason why there are no numbers, or the numbers.
struct CompareResult {
  std::string unsupported_reason;
  std::uint64_t sequences = 0;       ///< that were decoded
  std::optional<Interval> proposes;  ///< share of contexts in which the drafter proposes something
  /// Mean of min(1, q/p) of the tokens of a text that the target generates: what a recording says.
  std::optional<Interval> alpha_recorded;
  std::int32_t best_gamma = 0;  ///< the fastest fixed gamma
  std::vector<GammaResult> gammas;
  std::vector<PolicyResult> policies;

  bool ran() const { return unsupported_reason.empty(); }
};
template <>
const Typed<CompareResult>& described();

/// From results alone.
Presentation compare_presentation();

}  // namespace speclab
