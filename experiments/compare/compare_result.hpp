// What a cell of the experiment "compare" has of its own: numbers by fixed gamma and by policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "experiments/config/fields.hpp"

namespace speclab {

/// Numbers of one run of a drafter on a task; none where they cannot be estimated.
struct RunNumbers {
  std::optional<Interval> alpha_examined, alpha_drafted, drafted_per_round, tokens_per_target_step, speedup;
};

struct GammaResult : RunNumbers {
  std::int32_t gamma = 0;
};

struct PolicyResult : RunNumbers {
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
  std::int32_t best_gamma = 0;       ///< the fastest fixed gamma
  std::vector<GammaResult> gammas;
  std::vector<PolicyResult> policies;

  bool ran() const { return unsupported_reason.empty(); }
};
template <>
const Typed<CompareResult>& described();

}  // namespace speclab
