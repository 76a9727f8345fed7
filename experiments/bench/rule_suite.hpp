// `speclab bench rules`: every rule of `prove --all` in one table: is it lossless, how many tokens it emits
// beside the optimum, and what a decision takes on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/format/fields.hpp"
#include "experiments/verify/prove/survey.hpp"

namespace speclab {

struct RuleSuiteOptions {
  std::vector<std::int32_t> vocabs{32, 4096};
  std::int32_t gamma = 4;
  std::int32_t drafts = 3;  ///< of rules for several
  int repetitions = 5;
};

struct RuleSpeed {
  std::string rule;  ///< its label in the survey
  std::int32_t vocab = 0;
  double drafted = 0;           ///< tokens a round, mean
  double seconds = 0;           ///< a round with its drafting: median, processor time
  double spread = 0;            ///< of the repetitions; see interleaved_runs.hpp
  double decision_seconds = 0;  ///< a round less the draws of its drafted tokens
};

struct DrawSpeed {
  std::int32_t vocab = 0;
  double seconds = 0;  ///< a token from a row: median, processor time
};

struct RuleReport {
  std::string machine;
  std::int32_t gamma = 0;
  std::int32_t drafts = 0;
  std::vector<DrawSpeed> draws;
  std::vector<RuleSpeed> speeds;
  Survey survey;
};
template <>
const Typed<RuleReport>& described();

/// Rounds of each surveyed rule by its definition (core/round), on one pair of rows of each vocabulary: the
/// target Dirichlet(0.3), the draft 0.7 of it and 0.3 of another such row. Rows are at hand, so that models
/// take no time. The rules of `survey`, in its order.
RuleReport run_rule_suite(const RuleSuiteOptions& options, Survey survey);

std::string rule_report_text(const RuleReport& report);

}  // namespace speclab
