#include "experiments/verify/prove/proof.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "analysis/exact/enumeration_program.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/catalog/models/sampling.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/verify/prove/request_faults.hpp"

namespace speclab {

namespace {

/// Longer lists of sequences, or of numbers in rows, are left out.
constexpr std::size_t max_sequences = 10000;

/// Upper estimates of the seconds per branch of the bound. On cores of 2024 and 2026, with 3 to 8 tokens and
/// gamma 4, 5 and 8, proofs in fractions took 12 to 37 microseconds a branch with rows of 2 digits, where the
/// estimate is 60, and 31 to 220 with rows of 17 digits, where it is 340. Fractions take longer above
/// `cheap_digits` digits.
constexpr double branch_seconds = 3e-6;
constexpr double exact_branch_seconds = 6e-5;
constexpr double cheap_digits = 3;
/// Proofs in doubles are repeated in fractions of so few digits, if these take no longer than this.
constexpr std::size_t short_digits = 6;
constexpr double short_seconds = 2;

/// Returns the digits of a task's fractions; 0 for doubles.
std::size_t fraction_digits(const ProofTask& task, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::floating_point) return 0;
  constexpr std::size_t double_digits = 17;
  return std::max({digits_of(task.target), digits_of(task.draft), task.request ? double_digits : 1});
}

double seconds_a_branch(Arithmetic arithmetic, std::size_t digits) {
  if (arithmetic == Arithmetic::floating_point) return branch_seconds;
  return exact_branch_seconds * std::max(1.0, static_cast<double>(digits) / cheap_digits);
}

template <class Real>
std::vector<std::vector<Real>> values_of(const ExactRows& rows) {
  std::vector<std::vector<Real>> out;
  for (const auto& row : rows) {
    out.emplace_back();
    for (const Rational& probability : row) out.back().push_back(static_cast<Real>(probability));
  }
  return out;
}

ProofNumber proof_number(const Rational& value) { return value.str(); }
ProofNumber proof_number(double value) { return value; }

template <class Real>
std::optional<OrderedMap<ProofNumber>> listed(const SequenceDistribution<Real>& distribution) {
  if (distribution.size() > max_sequences) return std::nullopt;
  OrderedMap<ProofNumber> out;
  for (const auto& [tokens, probability] : distribution) {
    if (probability > Real(0))
      out.emplace_back(fmt::format("{}", fmt::join(tokens, ",")), proof_number(probability));
  }
  return out;
}

template <class Real>
std::vector<std::vector<ProofNumber>> numbers_of(const std::vector<std::vector<Real>>& rows) {
  std::vector<std::vector<ProofNumber>> out;
  for (const auto& row : rows) {
    out.emplace_back();
    for (const Real& probability : row) out.back().push_back(proof_number(probability));
  }
  return out;
}

/// Returns the rows in this arithmetic: the made rows if there are any, else the given ones; empty if there
/// are too many numbers.
template <class Real>
std::optional<std::vector<std::vector<ProofNumber>>> proved_rows(const ExactRows& given,
                                                                 const std::vector<std::vector<Real>>& made) {
  if (!made.empty()) return numbers_of(made);
  if (given.size() * given.front().size() > max_sequences) return std::nullopt;
  return numbers_of(values_of<Real>(given));
}

/// Returns the expected share of tokens that are the only ones that the grammar allows.
template <class Real>
Real forced_share(const SequenceDistribution<Real>& distribution, const Grammar& grammar) {
  Real forced(0);
  for (const auto& [tokens, probability] : distribution) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (state_after(grammar, std::span(tokens).first(i)).forced()) ++count;
    forced += probability * Real(count) / Real(tokens.size());
  }
  return forced;
}

/// Throws ConfigError if the findings under a planted fault are those without it.
template <class Real>
void require_effect(const ProofTask& task, const Losslessness<Real>& found) {
  ProofTask right = task;
  right.request->fault = {};
  const Losslessness<Real> plain = examine_by_context<Real>(right).round;
  const double change = static_cast<double>(distribution_distance(found.distribution, plain.distribution)) +
                        std::abs(static_cast<double>(found.expected_accepted - plain.expected_accepted));
  if (change > enumeration_rounding) return;
  throw ConfigError(
      "/prove/fault",
      "\"{}\" changes nothing in the first {} tokens; give an option that it acts on, or leave it out. {}",
      *task.fault, task.request->tokens, find_named(history_faults(), *task.fault)->sentence);
}

double limit_of(const ProofTask& task, Arithmetic arithmetic) {
  return task.max_branches.value_or(branch_limit(arithmetic, fraction_digits(task, arithmetic)));
}

template <class Real>
Proof prove_in(const ProofTask& task) {
  constexpr bool rational = !std::is_same_v<Real, double>;
  const ExaminedByContext<Real> examined = examine_by_context<Real>(task);
  const Losslessness<Real>& found = examined.round;
  if (task.fault) require_effect(task, found);
  Proof proof;
  proof.rule = task.rule;
  proof.gamma = task.gamma;
  proof.target = proved_rows(task.target, examined.made_target);
  proof.draft = proved_rows(task.draft, examined.made_draft);
  proof.context = examined.contexts.refuting.value_or(task.context);
  if (!task.request) {
    proof.contexts = examined.contexts.count;
    proof.all_contexts = examined.contexts.all;
    proof.contexts_words = contexts_words(examined.contexts, task.context, found.lossless());
  }
  proof.rows = examined.rows;
  proof.fault = task.fault;
  if (task.request) {
    proof.tokens = task.request->tokens;
    const RequestLaw& law = task.request->target;
    proof.sampling = request_words(law);
    if (!law.grammar.empty())
      proof.forced = proof_number(forced_share<Real>(found.target_distribution, law.grammar));
  }
  proof.lossless = found.lossless();
  proof.tv = proof_number(found.distance);
  proof.acceptance = proof_number(found.acceptance());
  // The bound is that of a drafted token.
  if (const auto& bound = examined.optimal_transport_bound; bound && proof.gamma > 0)
    proof.optimal_transport_bound = proof_number(*bound);
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

}  // namespace

double as_double(const ProofNumber& number) {
  if (const auto* fraction = std::get_if<std::string>(&number))
    return static_cast<double>(Rational(*fraction));
  return std::get<double>(number);
}

std::string short_text(const ProofNumber& number, int digits, std::size_t longest) {
  const auto* fraction = std::get_if<std::string>(&number);
  if (fraction != nullptr && fraction->size() <= longest) return *fraction;
  return fmt::format("{:.{}g}", as_double(number), digits);
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

template <class Real>
ExaminedByContext<Real> examine_by_context(const ProofTask& task) {
  const ExactTable<Real> target(values_of<Real>(task.target));
  const ExactTable<Real> draft(values_of<Real>(task.draft));
  const auto rule = [&] { return make_rule(task.rule, task.gamma).enumerated; };
  if (task.request) {
    ExaminedByContext<Real> examined;
    try {
      examined.round = examine_request<Real>(target, draft, rule(), task.gamma, task.context, *task.request);
    } catch (const EmptyRowError& error) {
      throw ConfigError("/sampling", "{}; leave out one of its options, or give the row other tokens",
                        error.what());
    }
    return examined;
  }
  const Arithmetic arithmetic =
      std::is_same_v<Real, double> ? Arithmetic::floating_point : Arithmetic::rational;
  const KnownRows known{.memory = std::max(target.order(), draft.order()),
                        .max_branches = limit_of(task, arithmetic)};
  return examine_by_context<Real>(ModelRef<Real>(target), ModelRef<Real>(draft), rule, task.gamma,
                                  std::span<const Token>(task.context), known);
}
template ExaminedByContext<double> examine_by_context(const ProofTask& task);
template ExaminedByContext<Rational> examine_by_context(const ProofTask& task);

Proof prove(const ProofTask& task, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::rational) return prove_in<Rational>(task);
  Proof found = prove_in<double>(task);
  const BranchCost exact = branch_cost(task, Arithmetic::rational);
  const auto contexts = static_cast<double>(std::max(task.target.size(), task.draft.size()));
  if (task.request || exact.digits > short_digits || exact.seconds * contexts > short_seconds) return found;
  ProofTask everywhere = task;
  everywhere.max_branches = limit_of(task, arithmetic);  // the same contexts, so that only a tie can differ
  Proof repeated = prove_in<Rational>(everywhere);
  const double tv = as_double(found.tv);
  if (std::abs(as_double(repeated.tv) - tv) <= enumeration_rounding) return found;
  repeated.tv_in_doubles = tv;
  return repeated;
}

double branch_bound(const ProofTask& task) {
  const std::size_t support = largest_support(task.target);
  if (task.request) {
    // One round from every sequence that is shorter; mistaken counts divide a sequence by its rounds.
    const double rounds = sequence_bound(static_cast<std::int32_t>(task.request->tokens) - 1, support);
    const double counts = task.request->fault.miscounts() ? task.gamma + 1 : 1;
    return rounds * counts *
           make_rule(task.rule, task.gamma)
               .enumerated->branch_bound(task.gamma, largest_support(task.draft), support);
  }
  return std::max(make_rule(task.rule, task.gamma)
                      .enumerated->branch_bound(task.gamma, largest_support(task.draft), support),
                  sequence_bound(task.gamma, support));
}

std::size_t digits_of(const ExactRows& rows) {
  std::size_t most = 1;
  for (const auto& row : rows) {
    for (const Rational& probability : row) {
      const std::string text = probability.str();
      const std::size_t slash = std::min(text.find('/'), text.size());
      most = std::max({most, slash, text.size() - std::min(slash + 1, text.size())});
    }
  }
  return most;
}

double branch_limit(Arithmetic arithmetic, std::size_t digits) {
  constexpr double minute = 60;
  return minute / seconds_a_branch(arithmetic, digits);
}

BranchCost branch_cost(const ProofTask& task, Arithmetic arithmetic) {
  BranchCost cost{.branches = branch_bound(task)};
  cost.digits = fraction_digits(task, arithmetic);
  cost.seconds = cost.branches * seconds_a_branch(arithmetic, cost.digits);
  return cost;
}

std::string cost_words(const BranchCost& cost) {
  constexpr double minute = 60;
  constexpr double hour = 3600;
  const std::string time = cost.seconds < 2 * minute ? fmt::format("{:.2g} seconds", cost.seconds)
                           : cost.seconds < 2 * hour ? fmt::format("{:.2g} minutes", cost.seconds / minute)
                                                     : fmt::format("{:.3g} hours", cost.seconds / hour);
  return fmt::format("up to {:.3g} branches, which may take {}{}", cost.branches, time,
                     cost.digits > 0 ? fmt::format(" in fractions of {} digits", cost.digits) : "");
}

void check_branches(const ProofTask& task, Arithmetic arithmetic) {
  const BranchCost cost = branch_cost(task, arithmetic);
  const double most = limit_of(task, arithmetic);
  if (cost.branches <= most) return;
  throw ConfigError(
      "/gamma",
      "{}; the limit is {:.3g}: lower gamma ({}), the number of drafts or the vocabulary ({}), {}or allow it with --max-branches; \"speclab check\" tests large cases by sampling",
      cost_words(cost), most, task.gamma, task.target.front().size(),
      arithmetic == Arithmetic::rational ? "give rows of fewer digits, take doubles (without --exact), "
                                         : "");
}

}  // namespace speclab
