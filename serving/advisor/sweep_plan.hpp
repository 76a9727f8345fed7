// Reads a table of measured speeds by the number K of drafted tokens (`speclab plan sweep`): the time of a
// step by K, the best K, and the best K with another acceptance or other costs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"

namespace speclab {

struct SweepQuestion {
  std::string file;
  /// The names of the columns k, rate or tpot, acceptance and length, where they are not usual ones.
  std::map<std::string, std::string> fields = {};
  std::string by = {};              ///< the column whose values separate sweeps, such as a power cap
  std::vector<double> alphas = {};  ///< other acceptance rates (accepted / examined) to ask about
  double batch = 1;                 ///< sequences whose tokens the rates count together
  double confidence = 0.95;
};

struct SweepPoint {
  int k = 0;
  double tokens_per_step = 1;
  double tokens_per_second = 0;
  double step_ms = 0;                    ///< batch * tokens_per_step / tokens_per_second
  std::optional<double> fitted_ms = {};  ///< for K from 1 on
};

/// The line base_ms + K per_token_ms through the times of steps that draft, by least squares, with intervals
/// by Student's t (infinite for two points).
struct SweepFit {
  Interval base_ms{0, 0, 0};
  Interval per_token_ms{0, 0, 0};  ///< drafting and verifying one more token
  double scatter_percent = 0;      ///< standard deviation of a step's time around the line, of the mean time
};

struct Sweep {
  std::string name;  ///< the value of the column `by`; empty without one
  std::vector<SweepPoint> points = {};
  std::optional<SweepFit> fit = {};  ///< from two values of K on
  int best_k = 0;
  /// The rates of K from low_k to high_k are below the best rate by no more than chance explains, at the
  /// asked confidence. Empty if fewer than four values of K draft, so that the scatter is hardly known, and
  /// if drafting does not pay.
  std::optional<int> low_k = {};
  std::optional<int> high_k = {};
};

/// The best K with the step times of one sweep and another acceptance.
struct SweepOther {
  std::string costs;
  std::string acceptance;
  int best_k = 0;
  double tokens_per_second = 0;
};

struct SweepPlan {
  std::string file;
  std::string acceptance = {};  ///< how tokens per step were known, in words
  double confidence = 0.95;
  std::vector<Sweep> sweeps = {};
  std::vector<SweepOther> others = {};
  std::vector<std::string> warnings = {};
};
SPECLAB_IS_DESCRIBED(SweepPlan);

/// Reads the table (sweep_table.hpp) and judges its sweeps. Throws UsageError as the reader does.
SweepPlan plan_sweep(const SweepQuestion& question);

Listing sweep_text(const SweepPlan& plan);
std::string sweep_headline(const SweepPlan& plan);
std::vector<Figure> sweep_figures(const SweepPlan& plan);

}  // namespace speclab
