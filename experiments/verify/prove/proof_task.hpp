// Makes the task of a proof from text or from a config.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "experiments/verify/prove/proof.hpp"

namespace speclab {

struct Config;

/// Parses a decimal ("0.5", ".5", "2e-3") or a fraction of two decimals ("1/3"); empty if the text is
/// neither.
std::optional<Rational> parse_rational(std::string_view text);

/// The sum of a row of probabilities may differ from 1 by this much, as sums of 2^17 floats do; logits,
/// weights and rows that lack a token differ by more.
inline constexpr double row_tolerance = 1e-3;

/// Parses rows: probabilities separated by commas, rows by semicolons. Divides each row by its sum. Throws
/// UsageError, which names `option`, also for a row whose sum differs from 1 by more than `row_tolerance`.
ExactRows parse_rows(const std::string& text, const std::string& option);

/// Returns the task that a config describes. Uses stored rows as the decimals that the config writes
/// ("table", "uniform", "point", mixtures by epsilon), else as the computed doubles; normalises each row
/// exactly. Throws ConfigError if a model does not store its rows.
ProofTask proof_task(const Config& config);

}  // namespace speclab
