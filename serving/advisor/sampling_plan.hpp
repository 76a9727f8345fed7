// Compares ways in which a draft can sample (`speclab plan sampling`). For lossless rules of one draft and
// each setting of the target's sampling options, computes acceptance and tokens per target step, and finds
// the best temperature for the draft.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "serving/advisor/sampling_source.hpp"

namespace speclab {

/// How the draft proposes a token. All but `argmax` and `unfiltered` apply the target's top-k and top-p.
enum class DraftSampling {
  argmax,
  as_target,    ///< samples at the target's temperature
  unfiltered,   ///< the same, without top-k and top-p
  temperature,  ///< samples at a given temperature
  best,         ///< samples at the temperature with the largest sum of min(p, q)
};

/// A way to draft and to verify, under one setting of the target.
struct SamplingRow {
  double temperature = 1;  ///< the target's temperature
  std::int32_t top_k = 0;  ///< 0: all tokens
  double top_p = 1;
  DraftSampling draft = DraftSampling::argmax;
  double draft_temperature = 0;  ///< 0: the argmax
  TextRule rule = TextRule::token;
  /// P(first drafted token is accepted), over contexts of the target's text.
  Interval acceptance{0, 0, 0};
  std::optional<Interval> tokens_per_target_step{};  ///< empty if no text is known for this setting
};

struct SamplingPlan {
  std::string source;
  bool exact = false;
  int gamma = 5;
  double confidence = 0.95;
  std::vector<SamplingRow> rows{};
  std::vector<std::string> warnings{};
};
template <>
const Typed<SamplingPlan>& described();

struct SamplingQuestion {
  std::vector<double> temperatures{1};
  std::vector<std::int32_t> top_k{0};
  std::vector<double> top_p{1};
  std::vector<double> draft_temperatures{};
  int gamma = 5;
  double confidence = 0.95;
};

/// Returns nothing if `control` ended it early.
std::optional<SamplingPlan> plan_sampling(const SamplingSource& source, const SamplingQuestion& question,
                                          const Control& control);

Listing sampling_text(const SamplingPlan& plan);
std::string sampling_headline(const SamplingPlan& plan);
std::vector<Figure> sampling_figures(const SamplingPlan& plan);

}  // namespace speclab
