// Planning for the cases of a config: its choice of gamma beside the best.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/format/shape.hpp"
#include "experiments/plan/planning.hpp"
#include "sim/control.hpp"

namespace speclab {

/// One cell of a config.
struct ConfigCase {
  std::string label;
  Acceptance acceptance;
  double c = 0;
  int gamma = 0;
  double alpha_rounding = 0;  ///< half a unit of the last printed digit; 0: exact
  double c_rounding = 0;
};

/// The config's cells, without a sweep over /gamma, which is what is to be found. alpha is the config's own
/// (predict, iid), or that of its models where they have one exact alpha; else rounds of the config's plan
/// are decoded, with at least 8 drafted tokens so that positions are seen, and alpha is accepted / examined
/// with an interval over batches. `c` replaces the config's. Throws ConfigError. `partial` is set when
/// `control` stopped the work.
std::vector<ConfigCase> config_cases(const Json& config, std::optional<double> c, double confidence,
                                     const Control& control, bool& partial);

/// {rows: [{label, alpha, c, gamma, speed, best_gamma, best_speed, loss_percent, optimal_gammas [low, high]
/// (those optimal for inputs within rounding; null without any), verdict}], same, within_rounding,
/// largest_loss_percent (of the other rows)}. Speeds by Thm 3.8; numbers without a value are null.
Json compare_choices(const std::vector<ConfigCase>& cases);

std::string comparison_text(const Json& comparison);

}  // namespace speclab
