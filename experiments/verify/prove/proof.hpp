// `speclab prove`: proves whether a rule is lossless on given rows, by following every branch of one round.
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
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/base/support/exact_rows.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"

namespace speclab {

/// The task of a proof: target and draft over one vocabulary, a rule, and the context from which the round
/// starts.
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

/// A number of a proof: a double, or a fraction as text in rational arithmetic.
using ProofNumber = std::variant<double, std::string>;
template <>
const Typed<ProofNumber>& described();
double as_double(const ProofNumber& number);
/// Returns a fraction of at most `longest` characters unchanged, anything else as a decimal of `digits`
/// digits.
std::string short_text(const ProofNumber& number, int digits, std::size_t longest = 24);

/// The sequence whose probability differs most from the target's.
struct Counterexample {
  std::vector<Token> tokens;
  ProofNumber probability;
  ProofNumber target_probability;
};

template <>
const Typed<ProvedRows>& described();
/// Returns a sentence that says what the rows show about a rule that reads the row of a wrong position; empty
/// for `given`.
std::string rows_words(ProvedRows rows);

/// The most tokens that any lossless scheme emits in one round with the same drafted tokens.
struct ProofOptimum {
  std::optional<std::int32_t> paths = {};  ///< number of paths, drafted independently
  std::optional<std::int32_t> nodes = {};  ///< or number of nodes of a tree
  ProofNumber expected_emitted;            ///< a fraction if it is proved in rational arithmetic
  bool proved = false;                     ///< in exact arithmetic; else correct to about 1e-9
  ProofNumber upper_bound;                 ///< a proved bound: no lossless scheme emits more
  std::size_t outcomes = 0;                ///< number of different sets of drafted strings
  std::size_t variables = 0;               ///< variables of the linear program
};

/// The result of enumeration.
struct Proof {
  RuleConfig rule;
  std::int32_t gamma = 1;
  /// The rows to which all numbers refer: one row, or one for each context; empty above 10,000 numbers.
  std::optional<std::vector<std::vector<ProofNumber>>> target;
  std::optional<std::vector<std::vector<ProofNumber>>> draft;
  std::vector<Token> context;  ///< context before the round
  ProvedRows rows = ProvedRows::given;
  bool lossless = false;
  ProofNumber tv;          ///< total variation between the distributions of gamma + 1 tokens
  ProofNumber acceptance;  ///< P(a token is accepted at the first position)
  /// The largest acceptance that any lossless rule can have there with candidates drawn in this way; empty
  /// for siblings without replacement over vocabularies too large for the search.
  std::optional<ProofNumber> optimal_transport_bound;
  ProofNumber expected_accepted;
  ProofNumber expected_emitted;
  ProofNumber rejection;                ///< P(the round ends in a rejection)
  std::optional<ProofOptimum> optimum;  ///< only if it was asked for
  std::optional<Counterexample> counterexample;
  /// Probabilities by sequence; empty above 10,000 sequences.
  std::optional<OrderedMap<ProofNumber>> distribution;
  std::optional<OrderedMap<ProofNumber>> target_distribution;
  std::uint64_t branches = 0;
  Arithmetic arithmetic = Arithmetic::floating_point;
};
template <>
const Typed<Proof>& described();

/// Follows every branch of a task and returns what it finds. Instantiated for double and Rational.
template <class Real>
ExaminedByContext<Real> examine_by_context(const ProofTask& task);

/// Proves whether the rule is lossless on the given rows and, if these do not differ by context, on rows made
/// from them that do (examine_by_context).
Proof prove(const ProofTask& task, Arithmetic arithmetic);

/// optimum_of returns the optimum for a task (analysis/exact/optimum.hpp). check_optimum throws ConfigError
/// if there is none: for gamma = 0, for trees whose shape depends on the draft, and for linear programs that
/// are too large.
ProofOptimum optimum_of(const ProofTask& task, Arithmetic arithmetic);
void check_optimum(const ProofTask& task);

/// Returns a line of a printed proof.
std::string proof_line(const char* label, const std::string& value);
/// Returns a proof for people: a table of numbers, the counterexample, and the distribution if it is short.
Listing proof_text(const Proof& proof);
std::string proof_headline(const Proof& proof);
/// Returns a figure of the round's distribution beside the target's or, without distributions, of the
/// acceptance and its bound.
std::vector<Figure> proof_figures(const Proof& proof);

/// Returns the largest number of tokens with positive probability in one row.
std::size_t largest_support(const ExactRows& rows);

/// Returns an upper bound on the branches of one round and on the sequences over which they are compared,
/// from the supports of the rows.
double branch_bound(const ProofTask& task);

/// Returns the decimal digits of the longest numerator or denominator of a probability.
std::size_t digits_of(const ExactRows& rows);

/// Returns the most branches that are followed unless the user allows more: about a minute's work in either
/// arithmetic. Exact arithmetic takes longer if the rows have more digits.
double branch_limit(Arithmetic arithmetic, std::size_t digits);

/// The estimated cost of following all branches of a task.
struct BranchCost {
  double branches = 0;     ///< see branch_bound
  double seconds = 0;      ///< correct to within a factor of about 4
  std::size_t digits = 0;  ///< digits of the rows, in rational arithmetic
};
BranchCost branch_cost(const ProofTask& task, Arithmetic arithmetic);
std::string cost_words(const BranchCost& cost);

/// Throws ConfigError if the branches exceed `limit`, or `branch_limit` if it is empty. The message gives
/// their number and cost, and what would lower it.
void check_branches(const ProofTask& task, Arithmetic arithmetic, std::optional<double> limit);

}  // namespace speclab
