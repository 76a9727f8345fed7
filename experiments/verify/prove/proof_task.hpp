// What is to be proved, from text or from a config.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "experiments/verify/prove/proof.hpp"

namespace speclab {

struct Config;

/// A decimal ("0.5", ".5", "2e-3") or a fraction of two ("1/3") as the number it stands for; none when it is
/// neither.
std::optional<Rational> parse_rational(std::string_view text);

/// A row of probabilities may miss 1 by so much, as sums of 2^17 floats do; logits, weights and rows that
/// lack a token miss it by more.
inline constexpr double row_tolerance = 1e-3;

/// Rows as text: probabilities separated by commas, rows by semicolons, each row divided by its sum. Throws
/// UsageError, naming `option`; for a row whose sum is further from 1 than `row_tolerance` as well.
ExactRows parse_rows(const std::string& text, const std::string& option);

/// The task a config describes: stored rows as the decimals they are written in where the config writes them
/// ("table", "uniform", "point", mixtures by epsilon), else as the doubles they were computed to; each row
/// normalised exactly. Throws ConfigError when a model does not store its rows.
ProofTask proof_task(const Config& config);

}  // namespace speclab
