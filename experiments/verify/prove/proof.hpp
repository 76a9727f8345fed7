// `speclab prove`: is a rule lossless on these rows? Every branch of one round is followed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/exact/context_rows.hpp"
#include "analysis/exact/rational.hpp"
#include "core/token.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/base/support/exact_rows.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"

namespace speclab {

/// What is to be proved: target and draft over one vocabulary, a rule, and the context that the round starts
/// from.
struct ProofTask {
  ExactRows target;
  ExactRows draft;
  RuleConfig rule;
  std::int32_t gamma = 1;
  std::vector<Token> context;
};

enum class Arithmetic { floating_point, rational };
template <>
const Typed<Arithmetic>& described();

/// A number of a proof: a double, or in rational arithmetic a fraction as text.
using ProofNumber = std::variant<double, std::string>;
template <>
const Typed<ProofNumber>& described();
double as_double(const ProofNumber& number);
/// A fraction of at most so many characters as it is, anything else as a decimal of `digits` digits.
std::string short_text(const ProofNumber& number, int digits, std::size_t longest = 24);

/// The sequence whose probability is furthest from the target's.
struct Counterexample {
  std::vector<Token> tokens;
  ProofNumber probability;
  ProofNumber target_probability;
};

template <>
const Typed<ProvedRows>& described();
/// What the rows show of a rule that reads those of another position, as a sentence; empty for `given`.
std::string rows_words(ProvedRows rows);

/// The most tokens that any lossless scheme emits in one round, given what the rule drafts.
struct ProofOptimum {
  std::optional<std::int32_t> paths = {};  ///< drafted independently
  std::optional<std::int32_t> nodes = {};  ///< of a tree, instead
  ProofNumber expected_emitted;            ///< a fraction where it is proved and the arithmetic rational
  bool proved = false;                     ///< in exact arithmetic; else to about 1e-9
  ProofNumber upper_bound;                 ///< proved: no lossless scheme emits more
  std::size_t outcomes = 0;                ///< different sets of drafted strings
  std::size_t variables = 0;               ///< of the linear program
};

/// What enumeration finds.
struct Proof {
  RuleConfig rule;
  std::int32_t gamma = 1;
  /// The rows that all numbers are about: one, or one for each context; none above 10,000 numbers.
  std::optional<std::vector<std::vector<ProofNumber>>> target;
  std::optional<std::vector<std::vector<ProofNumber>>> draft;
  std::vector<Token> context;  ///< before the round
  ProvedRows rows = ProvedRows::given;
  bool lossless = false;
  ProofNumber tv;          ///< total variation between the distributions of gamma + 1 tokens
  ProofNumber acceptance;  ///< P(a token is accepted at the first position)
  /// The largest acceptance that any lossless rule can have there with candidates drawn so; none for siblings
  /// without replacement over vocabularies that are too large for the search.
  std::optional<ProofNumber> optimal_transport_bound;
  ProofNumber expected_accepted;
  ProofNumber expected_emitted;
  ProofNumber rejection;                ///< P(the round ends in a rejection)
  std::optional<ProofOptimum> optimum;  ///< where it was asked for
  std::optional<Counterexample> counterexample;
  /// Probabilities by sequence; none above 10,000 sequences.
  std::optional<OrderedMap<ProofNumber>> distribution;
  std::optional<OrderedMap<ProofNumber>> target_distribution;
  std::uint64_t branches = 0;
  Arithmetic arithmetic = Arithmetic::floating_point;
};
template <>
const Typed<Proof>& described();

/// What is known of a task by following every branch. Instantiated for double and Rational.
template <class Real>
ExaminedByContext<Real> examine_by_context(const ProofTask& task);

/// Lossless on the given rows and, where these do not differ by context, on rows made from them that do
/// (examine_by_context).
Proof prove(const ProofTask& task, Arithmetic arithmetic);

/// The optimum for a task (analysis/exact/optimum.hpp). `check_optimum` throws ConfigError where there is
/// none: for gamma = 0, for trees whose shape depends on the draft, and for linear programs that are too
/// large.
ProofOptimum optimum_of(const ProofTask& task, Arithmetic arithmetic);
void check_optimum(const ProofTask& task);

/// A line of a printed proof.
std::string proof_line(const char* label, const std::string& value);
/// The same for people: a table of numbers, the counterexample, and the distribution when it is short.
Listing proof_text(const Proof& proof);

/// The most tokens of positive probability that a row has.
std::size_t largest_support(const ExactRows& rows);

/// An upper bound on the branches of one round and on the sequences that they are compared over, from the
/// supports of the rows.
double branch_bound(const ProofTask& task);

/// Decimal digits of the longest numerator or denominator of a probability.
std::size_t digits_of(const ExactRows& rows);

/// Branches that are followed without being asked to: about a minute's work in either arithmetic. Exact
/// arithmetic takes the longer, the more digits the rows have.
double branch_limit(Arithmetic arithmetic, std::size_t digits);

/// What following the branches of a task may take.
struct BranchCost {
  double branches = 0;     ///< branch_bound
  double seconds = 0;      ///< to within a factor of about 4
  std::size_t digits = 0;  ///< of the rows, in rational arithmetic
};
BranchCost branch_cost(const ProofTask& task, Arithmetic arithmetic);
std::string cost_words(const BranchCost& cost);

/// Throws ConfigError, with the count, what it takes and what would lower it, above `limit`; without one
/// above `branch_limit`.
void check_branches(const ProofTask& task, Arithmetic arithmetic, std::optional<double> limit);

}  // namespace speclab
