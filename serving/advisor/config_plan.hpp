// Compares the gamma of each case of a config with the best gamma.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/gamma_choice.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "serving/advisor/planning.hpp"
#include "sim/control.hpp"

namespace speclab {

struct Config;

/// One cell of a config.
struct ConfigCase {
  std::string label;
  Acceptance acceptance;
  double c = 0;
  int gamma = 0;
  double alpha_rounding = 0;  ///< half a unit of the last printed digit; 0: exact
  double c_rounding = 0;
};

/// Returns the config's cells, without a sweep over /gamma, the unknown. alpha is the config's own (predict,
/// iid), or the models' if it is exact and equal in every context. Otherwise the config's simulation is
/// decoded with at least 8 drafted tokens, so that positions are examined, and alpha is accepted / examined
/// with an interval over batches. `c` replaces the config's c. Throws ConfigError. Returns nothing if
/// `control` stopped it.
std::optional<std::vector<ConfigCase>> config_cases(const Config& whole, std::optional<double> c,
                                                    double confidence, const Control& control);

/// A case's gamma, and the best. Speedups are by Theorem 3.8.
struct ComparedChoice {
  std::string label;
  double alpha = 0;
  double c = 0;
  int gamma = 0;
  double speedup = 0;
  std::optional<int> best_gamma;       ///< empty: larger is always better
  std::optional<double> best_speedup;  ///< empty: unlimited
  double loss_percent = 0;
  /// Best gammas over all inputs within rounding; empty without rounding.
  std::optional<GammaRange> optimal_gammas;
  ChoiceVerdict verdict = ChoiceVerdict::same;
};

struct ChoiceComparison {
  std::vector<ComparedChoice> rows;
  int same = 0;
  int within_rounding = 0;
  double largest_loss_percent = 0;  ///< over rows with another verdict
};
template <>
const Typed<ChoiceComparison>& described();

ChoiceComparison compare_choices(const std::vector<ConfigCase>& cases);

Listing comparison_text(const ChoiceComparison& comparison);
std::string comparison_headline(const ChoiceComparison& comparison);
/// Draws the speedup at each case's gamma and at the best.
std::vector<Figure> comparison_figures(const ChoiceComparison& comparison);

}  // namespace speclab
