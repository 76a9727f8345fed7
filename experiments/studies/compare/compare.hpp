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
struct Timings;

/// A text to decode, and its target.
struct TaskConfig {
  std::string name;
  CorpusConfig corpus;
  std::optional<ModelConfig> target;  ///< empty: the text itself is the target
  std::int32_t sequences = 64;        ///< number of held-out documents to decode
  std::int32_t tokens = 200;          ///< most tokens to decode per document
  std::int32_t prompt_tokens = 100;   ///< prompt length in each document
  std::string prompt_until;           ///< instead, prompts end with this token; empty: unused
};
const Typed<TaskConfig>& task_type();

struct CompareSection {
  std::vector<TaskConfig> tasks;
  std::vector<DrafterConfig> drafters;
  std::vector<std::int32_t> gammas{1, 2, 3, 4, 5, 6, 8, 10};
  std::vector<PolicyConfig> policies;
  double verify = 0;          ///< extra time of a target run per verified token, in target runs
  std::int32_t batches = 32;  ///< most batches of whole sequences from which intervals are computed
  /// Names of the tasks and drafters to run; empty: all.
  std::optional<std::vector<std::string>> only_tasks, only_drafters;
};

/// Fewest sequences that get intervals. With fewer, Student's t can miss: where 15% of texts can be copied
/// and the rest cannot, 8 sequences cover .74 at 95%. From this number on, ratio_interval corrects for
/// skewness.
inline constexpr std::uint64_t min_judged_sequences = min_skewed_batches;

/// Numbers of a drafter on a task; empty if they cannot be estimated.
struct ComparedNumbers {
  std::optional<Interval> alpha_examined, alpha_drafted, drafted_per_round, tokens_per_target_step, speedup;
};

struct GammaResult : ComparedNumbers {
  std::int32_t gamma = 0;
};

struct PolicyResult : ComparedNumbers {
  std::string name;
  std::string kind;
  std::optional<Interval> gain;                   ///< speedup minus the best fixed gamma's, paired
  std::optional<Interval> speedup_drafting_free;  ///< only for the policy "upper bound"

  bool upper_bound() const { return speedup_drafting_free.has_value(); }
};

/// A cell's result: the numbers, or the reason why there are none.
struct CompareResult {
  std::string unsupported_reason;
  std::string lossy_rule;            ///< the drafter's rule if it is not lossless for the target, else empty
  std::uint64_t sequences = 0;       ///< number of decoded sequences
  std::optional<Interval> proposes;  ///< share of contexts in which the drafter proposes any token
  std::int32_t best_gamma = 0;       ///< fastest fixed gamma
  std::vector<GammaResult> gammas;
  std::vector<PolicyResult> policies;

  bool ran() const { return unsupported_reason.empty(); }
};
SPECLAB_IS_DESCRIBED(CompareResult);

/// Returns one row for every drafter, task and policy, fixed gammas included, with every number in full.
std::string compare_csv(const Result& result, const Timings& timings);

/// Returns the presentation, which reads results alone.
Presentation compare_presentation();

}  // namespace speclab
