// `speclab prove`: is a verifier lossless on these rows? Every branch of one round is followed.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/token.hpp"
#include "experiments/format/shape.hpp"
#include "sim/any_rule.hpp"

namespace speclab {

using Rational = boost::multiprecision::cpp_rational;

/// Probability rows, exactly: one row (context-free), or vocab^n rows for the contexts of n tokens.
using ExactRows = std::vector<std::vector<Rational>>;

/// What is to be proved: target and draft over one vocabulary, a resolved verifier object, and the context
/// that the round starts from.
struct ProofTask {
  ExactRows target;
  ExactRows draft;
  Json verifier;
  std::int32_t gamma = 1;
  std::vector<Token> context;
};

/// A decimal ("0.5", ".5", "2e-3") or a fraction of two ("1/3") as the number it stands for; none when it is
/// neither.
std::optional<Rational> parse_rational(std::string_view text);

/// Rows as text: probabilities separated by commas, rows by semicolons, each row normalised. Throws
/// UsageError, naming `option`.
ExactRows parse_rows(const std::string& text, const std::string& option);

/// The task a config describes: stored rows as the decimals they are written in where the config writes them
/// ("table", "uniform", "point", mixtures by epsilon), else as the doubles they were computed to; each row
/// normalised exactly. Throws ConfigError when a model does not store its rows.
ProofTask proof_task(const Json& resolved);

/// An upper bound on the branches of one round, from the supports of the rows.
double branch_bound(const ProofTask& task);

/// Branches that are followed without being asked to: about a minute's work in either arithmetic.
double branch_limit(bool exact);

/// Throws UsageError, with the count and what would lower it, above `limit`.
void check_branches(const ProofTask& task, double limit);

/// The findings, by the names that --help lists. With `exact`, numbers are fractions as text.
Json prove(const ProofTask& task, bool exact);

/// The same for people: a table of numbers, the counterexample, and the distribution when it is short.
std::string proof_text(const Json& proof);

}  // namespace speclab
