// Whether a text was drawn from the column that it is recorded with. Everything that follows from a recording
// supposes so: a text sampled at another temperature, or greedily, or written by somebody else, gives wrong
// rounds without any other sign.
//
// For y drawn from p the mean of q(y)/p(y) is the mass of q where p > 0, which is 1 unless p was cut (top-k,
// top-p, temperature 0).
// - Too large: for any weight b in [0, 1] the product of 1 - b + b q/p over positions is a nonnegative
//   supermartingale, however positions depend on one another, and so is the mean over several b. It ever
//   reaches 1/level with a probability of at most `level` (Ville 1939). Exact.
// - Too small: the mean of min(q/p, B) over independent units, with an allowance for what larger ratios add:
// rare
//   tokens that the draft likes far more than the target carry a part of the mean that a short text does not
//   show. B is a ratio that 25 to 100 exceed, and the allowance continues their power law. Approximate: its false
//   alarms and its power are measured in text_fit_slow_test.
// Neither sees a change that leaves the mean of q/p as it is: where the draft's errors have nothing to do
// with p, another temperature does. With the entropy of p at each position (from rows, or recorded beside the
// columns) the mean of -log p(y) less the entropy is 0, and any other temperature moves it.
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
  double too_large_p = 1;  ///< at most this probable if the text is drawn from p
  double ratio_below = 0;  ///< mean of min(q/p, B), with the allowance
  double allowance = 0;
  FitVerdict too_large = FitVerdict::cannot_tell;
  FitVerdict too_small = FitVerdict::cannot_tell;
  std::optional<Interval>
      surprise;  ///< mean of -log p(y) less the entropy, in nats; where entropies are known
  FitVerdict entropy = FitVerdict::cannot_tell;

  /// Some check says that the text does not fit.
  bool refuted() const {
    return too_large == FitVerdict::does_not_fit || too_small == FitVerdict::does_not_fit ||
           entropy == FitVerdict::does_not_fit;
  }
};

/// Each check errs with this probability on a text that is drawn from its column.
inline constexpr double fit_level = 1e-4;

/// `cut`: p was cut, so that ratios may well be small on average.
TextFit text_fit(const Recording& recording, bool cut);

/// Sentences for a text that does not fit: what was seen, and what it may come from.
std::vector<std::string> misfit_sentences(const TextFit& fit);

}  // namespace speclab
