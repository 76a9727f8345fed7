// `speclab prove`: proves whether a rule is lossless on given rows, by enumerating every branch of one round.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/exact/context_rows.hpp"
#include "analysis/exact/rational.hpp"
#include "analysis/exact/request_rounds.hpp"
#include "core/token.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"

namespace speclab {

/// A task to prove: rows of target and draft over one vocabulary, a rule, and the context before the round.
struct ProofTask {
  ExactRows target = {};
  ExactRows draft = {};
  RuleConfig rule = {};
  std::int32_t gamma = 1;
  std::vector<Token> context = {};
  std::optional<RequestTask> request = {};  ///< filters of the rows; the proof then follows several rounds
  std::optional<std::string> fault = {};    ///< name of the request's planted fault
  std::optional<double> max_branches = {};  ///< default: `branch_limit`
};

enum class Arithmetic { floating_point, rational };
SPECLAB_IS_DESCRIBED(Arithmetic);

/// A number of a proof: a double, or in rational arithmetic a fraction as text.
using ProofNumber = std::variant<double, std::string>;
SPECLAB_IS_DESCRIBED(ProofNumber);
double as_double(const ProofNumber& number);
/// Returns a fraction of at most `longest` characters unchanged, else a decimal with `digits` digits.
std::string short_text(const ProofNumber& number, int digits, std::size_t longest = 24);

/// The sequence whose probability differs most from the target's.
struct Counterexample {
  std::vector<Token> tokens;
  ProofNumber probability;
  ProofNumber target_probability;
};

SPECLAB_IS_DESCRIBED(ProvedRows);
/// Returns a sentence that says what these rows show about a rule that reads the row of a wrong position;
/// empty for `given`.
std::string rows_words(ProvedRows rows);
/// Returns where rounds were examined that start after `given`; empty if no round can start elsewhere, or the
/// given context refutes the rule.
std::string contexts_words(const ExaminedContexts& contexts, std::span<const Token> given, bool lossless);

/// The largest expected number of tokens that a lossless scheme emits in a round with the same drafted
/// tokens.
struct ProofOptimum {
  std::optional<std::int32_t> paths = {};  ///< number of independently drafted paths
  std::optional<std::int32_t> nodes = {};  ///< or number of a tree's nodes
  ProofNumber expected_emitted;            ///< a fraction if proved in rational arithmetic
  bool proved = false;                     ///< in exact arithmetic; else correct to about 1e-9
  ProofNumber upper_bound;                 ///< proved: no lossless scheme emits more
  std::size_t outcomes = 0;                ///< number of different sets of drafted strings
  std::size_t variables = 0;               ///< variables of the linear program
};

/// The findings of enumeration.
struct Proof {
  RuleConfig rule;
  std::int32_t gamma = 1;
  /// The rows: one, or one per context; empty above 10,000 numbers.
  std::optional<std::vector<std::vector<ProofNumber>>> target;
  std::optional<std::vector<std::vector<ProofNumber>>> draft;
  std::vector<Token> context;             ///< context before the round of these numbers
  std::optional<std::uint64_t> contexts;  ///< number of contexts that were examined, the given one first
  std::optional<bool> all_contexts;       ///< whether a round can start in no other
  std::string contexts_words;             ///< says so; empty if there is one context
  ProvedRows rows = ProvedRows::given;
  std::optional<std::uint64_t> tokens;  ///< number of tokens compared, of several rounds; else gamma + 1
  std::optional<std::string> sampling;  ///< the target's filters, whose rows these are
  std::optional<std::string> fault;     ///< the planted fault of filters (request_faults.hpp)
  /// Expected share of these tokens that the grammar determines, which need no draft model.
  std::optional<ProofNumber> forced = {};
  bool lossless = false;
  ProofNumber tv;                            ///< total variation between the distributions of these tokens
  std::optional<double> tv_in_doubles = {};  ///< if doubles were asked for, and rounding decides a tie there
  ProofNumber acceptance;                    ///< P(a token is accepted at the first position)
  /// Largest acceptance of any lossless rule there, with candidates drawn in this way; empty for siblings
  /// without replacement over vocabularies too large for the search.
  std::optional<ProofNumber> optimal_transport_bound;
  ProofNumber expected_accepted;
  ProofNumber expected_emitted;
  ProofNumber rejection;                ///< P(the round ends in a rejection)
  std::optional<ProofOptimum> optimum;  ///< only if requested
  std::optional<Counterexample> counterexample;
  /// Probabilities by sequence; empty above 10,000 sequences.
  std::optional<OrderedMap<ProofNumber>> distribution;
  std::optional<OrderedMap<ProofNumber>> target_distribution;
  std::uint64_t branches = 0;
  Arithmetic arithmetic = Arithmetic::floating_point;
};
SPECLAB_IS_DESCRIBED(Proof);

/// Enumerates every branch of a task. Instantiated for double and Rational.
template <class Real>
ExaminedByContext<Real> examine_by_context(const ProofTask& task);

/// Proves whether the rule is lossless on the given rows. If these are equal in all contexts, also tries rows
/// made from them that differ (examine_by_context). Where fractions take little, a proof in doubles is
/// repeated in them: if rounding decided a tie of the rows, the result is the proof in fractions.
Proof prove(const ProofTask& task, Arithmetic arithmetic);

/// optimum_of returns the optimum of a task (analysis/exact/optimum.hpp). check_optimum throws ConfigError if
/// there is none: for gamma = 0, trees whose shape depends on the draft, and linear programs that are too
/// large.
ProofOptimum optimum_of(const ProofTask& task, Arithmetic arithmetic);
void check_optimum(const ProofTask& task);

/// Returns a line of a printed proof.
std::string proof_line(const char* label, const std::string& value);
/// Returns the proof as text: numbers, the counterexample, and the distribution if it is short.
Listing proof_text(const Proof& proof);
std::string proof_headline(const Proof& proof);
/// Returns a figure of the distribution beside the target's; none if there are too many sequences.
std::vector<Figure> proof_figures(const Proof& proof);

/// Returns the largest number of tokens with positive probability in one row.
std::size_t largest_support(const ExactRows& rows);

/// Returns an upper bound, from the rows' supports, on the branches of a round and on the sequences that are
/// compared.
double branch_bound(const ProofTask& task);

/// Returns the number of digits of the longest numerator or denominator.
std::size_t digits_of(const ExactRows& rows);

/// Returns the default limit on branches, about a minute's work in either arithmetic. Rational arithmetic
/// takes longer if rows have more digits. A rule that passes in the given context is tried in others as long
/// as all together have no more branches.
double branch_limit(Arithmetic arithmetic, std::size_t digits);

/// Estimated cost of enumerating a task.
struct BranchCost {
  double branches = 0;     ///< see branch_bound
  double seconds = 0;      ///< within a factor of about 4
  std::size_t digits = 0;  ///< digits of the rows, in rational arithmetic
};
BranchCost branch_cost(const ProofTask& task, Arithmetic arithmetic);
std::string cost_words(const BranchCost& cost);

/// Throws ConfigError above the limit on branches, with their number, their cost, and how to lower them.
void check_branches(const ProofTask& task, Arithmetic arithmetic);

}  // namespace speclab
