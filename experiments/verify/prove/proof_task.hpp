// Makes the task of a proof from text or from a config.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "experiments/verify/prove/proof.hpp"

namespace speclab {

struct Config;

/// Parses a decimal ("0.5", ".5", "2e-3") or a fraction of decimals ("1/3"); empty if it is neither.
std::optional<Rational> parse_rational(std::string_view text);

/// Parses rows separated by semicolons, of probabilities separated by commas. Divides each row by its sum.
/// Throws UsageError, naming `option`, also if a sum differs from 1 by more than `row_tolerance`.
ExactRows parse_rows(const std::string& text, const std::string& option);

/// Returns the task that a config describes, with each row normalised exactly. Rows are the decimals that the
/// config writes ("table", "uniform", "point", mixtures by epsilon), else the computed doubles. Throws
/// ConfigError if a model stores no rows.
ProofTask proof_task(const Config& config);

}  // namespace speclab
