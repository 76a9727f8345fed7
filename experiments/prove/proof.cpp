#include "experiments/prove/proof.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

#include "analysis/exact/enumeration_program.hpp"
#include "experiments/config/config_error.hpp"

namespace speclab {

namespace {

/// Distributions of doubles are compared to this: rounding of sums over at most millions of branches.
constexpr double rounding = 1e-10;

/// Above this many sequences nobody reads them.
constexpr std::size_t most_sequences = 10000;

template <class Real>
ExactTable<Real> table_of(const ExactRows& rows) {
  std::vector<std::vector<Real>> out;
  for (const auto& row : rows) {
    out.emplace_back();
    for (const Rational& probability : row) out.back().push_back(static_cast<Real>(probability));
  }
  return ExactTable<Real>(std::move(out));
}

ProofNumber proof_number(const Rational& value) { return value.str(); }
ProofNumber proof_number(double value) { return value; }

template <class Real>
std::optional<OrderedMap<ProofNumber>> listed(const SequenceDistribution<Real>& distribution) {
  if (distribution.size() > most_sequences) return std::nullopt;
  OrderedMap<ProofNumber> out;
  for (const auto& [tokens, probability] : distribution) {
    if (probability > Real(0)) {
      out.emplace_back(fmt::format("{}", fmt::join(tokens, ",")), proof_number(probability));
    }
  }
  return out;
}

/// Probability of the sequence, 0 when it does not occur.
template <class Real>
Real probability_of(const SequenceDistribution<Real>& distribution, const std::vector<Token>& tokens) {
  const auto found = distribution.find(tokens);
  return found == distribution.end() ? Real(0) : found->second;
}

template <class Real>
Proof prove_in(const ProofTask& task) {
  constexpr bool rational = !std::is_same_v<Real, double>;
  const Examined<Real> examined = examine<Real>(task);
  const Losslessness<Real>& found = examined.round;
  Proof proof;
  proof.rule = task.rule;
  proof.gamma = task.gamma;
  proof.lossless = static_cast<double>(found.distance) <= (rational ? 0.0 : rounding);
  proof.tv = proof_number(found.distance);
  proof.acceptance = proof_number(found.acceptance());
  if (const auto& bound = examined.optimal_transport_bound) {
    proof.optimal_transport_bound = proof_number(*bound);
  }
  proof.expected_accepted = proof_number(found.expected_accepted);
  proof.expected_emitted = proof_number(found.expected_emitted);
  proof.rejection = proof_number(found.rejection);
  if (!proof.lossless) {
    const std::vector<Token>& tokens = *found.counterexample;
    proof.counterexample = Counterexample{tokens, proof_number(probability_of(found.distribution, tokens)),
                                          proof_number(probability_of(found.target_distribution, tokens))};
  }
  proof.distribution = listed(found.distribution);
  proof.target_distribution = listed(found.target_distribution);
  proof.branches = found.branches;
  proof.arithmetic = rational ? Arithmetic::rational : Arithmetic::floating_point;
  return proof;
}

std::size_t largest_support(const ExactRows& rows) {
  std::size_t largest = 0;
  for (const auto& row : rows) {
    const auto support =
        std::count_if(row.begin(), row.end(), [](const Rational& probability) { return probability > 0; });
    largest = std::max(largest, static_cast<std::size_t>(support));
  }
  return largest;
}

}  // namespace

double as_double(const ProofNumber& number) {
  if (const auto* fraction = std::get_if<std::string>(&number)) {
    return static_cast<double>(Rational(*fraction));
  }
  return std::get<double>(number);
}

template <class Real>
Examined<Real> examine(const ProofTask& task) {
  const ExactTable<Real> target = table_of<Real>(task.target);
  const ExactTable<Real> draft = table_of<Real>(task.draft);
  const EnumerableRule rule = make_rule(task.rule, task.gamma).enumerated;
  std::vector<Real> scratch;
  const std::span<const Token> context(task.context);
  return {examine<Real>(ModelRef<Real>(target), ModelRef<Real>(draft), rule, task.gamma, context),
          rule->best_acceptance(target.next(context, scratch), draft.next(context, scratch))};
}
template Examined<double> examine(const ProofTask& task);
template Examined<Rational> examine(const ProofTask& task);

Proof prove(const ProofTask& task, Arithmetic arithmetic) {
  return arithmetic == Arithmetic::rational ? prove_in<Rational>(task) : prove_in<double>(task);
}

double branch_bound(const ProofTask& task) {
  return make_rule(task.rule, task.gamma)
      .enumerated->branch_bound(task.gamma, largest_support(task.draft), largest_support(task.target));
}

double branch_limit(Arithmetic arithmetic) { return arithmetic == Arithmetic::rational ? 1e6 : 2e7; }

void check_branches(const ProofTask& task, double limit) {
  const double bound = branch_bound(task);
  if (bound <= limit) return;
  throw ConfigError(
      "/gamma",
      fmt::format(
          "up to {:.3g} branches, more than {:.3g}: lower gamma ({}), the number of drafts or the vocabulary "
          "({}), or allow it with --max-branches; \"speclab check\" tests large cases by sampling",
          bound, limit, task.gamma, task.target.front().size()));
}

}  // namespace speclab
