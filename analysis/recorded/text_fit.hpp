// Tests whether a text was drawn from the target that its recorded log-probabilities describe. All results
// for a recording assume this: a text sampled at another temperature, or greedily, or from another source,
// gives wrong rounds without any other sign.
//
// For y drawn from p the mean of q(y)/p(y) is the mass of q where p > 0, which is 1 unless p was cut (top-k,
// top-p, temperature 0).
// - Too large: for any weight b in [0, 1] the product of 1 - b + b q/p over positions is a nonnegative
//    supermartingale under any dependence of positions, and so is the mean over several b. It ever reaches
//    1/level with a probability of at most `level` (Ville 1939). Exact.
// - Too small: the mean of min(q/p, B) over independent units, plus an allowance for larger ratios: rare
//    tokens with q far above p contribute to the mean, but may be absent from a short text. 25 to 100 ratios
//    exceed B, and the allowance extrapolates their power law. Approximate: text_fit_slow_test measures its
//    false alarms and its power.
// Neither test detects a change that leaves the mean of q/p unchanged, such as another temperature if the
// draft's errors are unrelated to p. If the entropy of p is known at each position (from rows, or recorded),
// the mean of -log p(y) less the entropy is 0, and any other temperature changes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/recorded/recording.hpp"
#include "analysis/statistics/intervals.hpp"

namespace speclab {

enum class FitVerdict { fits, does_not_fit, cannot_tell };

struct TextFit {
  double ratio_mean = 0;   ///< mean of q/p
  double too_large_p = 1;  ///< upper bound on the p-value of the test against a large mean
  double ratio_below = 0;  ///< mean of min(q/p, B) plus the allowance
  double allowance = 0;
  FitVerdict too_large = FitVerdict::cannot_tell;
  FitVerdict too_small = FitVerdict::cannot_tell;
  std::optional<Interval>
      surprise;  ///< mean of -log p(y) less the entropy, in nats; only if entropies are known
  FitVerdict entropy = FitVerdict::cannot_tell;

  /// Returns whether any test rejects.
  bool refuted() const {
    return too_large == FitVerdict::does_not_fit || too_small == FitVerdict::does_not_fit ||
           entropy == FitVerdict::does_not_fit;
  }
};

/// Level of each test: its probability of a false alarm.
inline constexpr double fit_level = 1e-4;

/// Tests the text. `cut`: p was truncated (top-k, top-p, temperature 0), so ratios may be small on average.
TextFit text_fit(const Recording& recording, bool cut);

/// Returns sentences for a text that does not fit: what was observed, and possible causes.
std::vector<std::string> misfit_sentences(const TextFit& fit);

}  // namespace speclab
