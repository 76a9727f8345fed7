// Checks of numbers that follow exactly from given rows.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/verify/claims/claim_check.hpp"
#include "experiments/verify/prove/proof.hpp"
#include "experiments/verify/prove/proof_task.hpp"

namespace speclab {

namespace {

struct Rows {
  std::vector<PrintedNumber> target, draft;
};
struct Toy : Rows {
  RuleConfig rule;
  std::int32_t gamma = 1;
};
struct Block {
  PrintedNumber block;
};

template <class P>
std::vector<Field> row_fields() {
  return {required(field<P>("target", &P::target, printed_numbers(), "The target's row.")),
          required(field<P>("draft", &P::draft, printed_numbers(), "The draft's row."))};
}

/// Throws std::invalid_argument if the rows are not distributions over one vocabulary.
void check_rows(const Rows& in) {
  constexpr double rounding = 1e-9;
  if (in.target.size() != in.draft.size() || in.target.empty()) {
    throw std::invalid_argument("\"target\" and \"draft\" are not rows over one vocabulary");
  }
  for (const auto* row : {&in.target, &in.draft}) {
    const bool negative =
        std::any_of(row->begin(), row->end(), [](const PrintedNumber& one) { return one < 0; });
    if (negative || std::abs(sum_of(*row) - 1) > rounding) {
      throw std::invalid_argument("a row that does not sum to 1; write exact numbers (0.7 or \"1/3\")");
    }
  }
}

std::vector<Rational> exact_row(const std::vector<PrintedNumber>& row) {
  std::vector<Rational> exact;
  for (const PrintedNumber& one : row) exact.push_back(parse_rational(one.text).value());
  return exact;
}

}  // namespace

std::vector<ClaimCheck> law_checks() {
  constexpr double max_gamma = 8;
  return {
      claim_check<Rows>("overlap", "Acceptance of the first drafted token by token verification.",
                        row_fields<Rows>(), "sum of min(target, draft)",
                        [](const Rows& in) {
                          check_rows(in);
                          double sum = 0;
                          for (std::size_t i = 0; i < in.target.size(); ++i) {
                            sum += std::min(in.target[i].value, in.draft[i].value);
                          }
                          return sum;
                        }),
      claim_check<Toy>(
          "expected_accepted", "Accepted tokens of a round by a rule of the catalogue, by enumeration.",
          joined(row_fields<Toy>(),
                 {required(field("rule", &Toy::rule, kind_of(rule_family()), "The rule.")),
                  required(integer_field("gamma", &Toy::gamma, 1, max_gamma, "Drafted tokens."))}),
          "E[accepted], every branch of a round followed in fractions",
          [](const Toy& in) {
            check_rows(in);
            ProofTask task;
            task.target = {exact_row(in.target)};
            task.draft = {exact_row(in.draft)};
            task.rule = in.rule;
            task.gamma = in.gamma;
            return as_double(prove(task, Arithmetic::rational).expected_accepted);
          }),
      claim_check<Block>(
          "at_most_block", "Tokens per round of another lossless rule on one drafted path.",
          {input("block", &Block::block, "Tokens per round of block verification.")}, "at most block",
          [](const Block& in) { return Allowed(0, in.block); },
          "both rules are lossless, verify one drafted path and meet like contexts, and there is no sampling "
          "error (block verification is optimal on one path: Sun et al. 2024, Theorem 2)"),
      claim_check<Rows>(
          "anticipating_truncation",
          "P[the first token of the vocabulary] where a draft is verified only if it is that token, and else the target is sampled.",
          row_fields<Rows>(), "draft[0] min(1, target[0] / draft[0]) + (1 - draft[0]) target[0]",
          [](const Rows& in) {
            check_rows(in);
            // The residual is 0 at a rejected token, so that a rejection never emits it.
            const double target = in.target[0], draft = in.draft[0];
            const double accepted = draft > 0 ? std::min(1.0, target / draft) : 1;
            return draft * accepted + (1 - draft) * target;
          }),
  };
}

}  // namespace speclab
