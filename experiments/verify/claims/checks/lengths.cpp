// Checks of mean acceptance lengths, the bonus or correction included, and of the rates from which they
// follow.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "analysis/statistics/mean_accepted.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/verify/claims/claim_check.hpp"

namespace speclab {

namespace {

struct Positions {
  std::vector<PrintedNumber> positions;
};
struct Counts {
  PrintedNumber accepted, rounds;
};
struct Rate {
  PrintedNumber rate, drafted;
};
struct Length {
  PrintedNumber length, drafted;
};
struct RateAndDraft {
  PrintedNumber rate;
  std::int32_t drafted = 1;
};
struct Extrapolated {
  PrintedNumber length;
  std::int32_t at = 1;
  std::int32_t drafted = 1;
};
struct Curve {
  std::vector<PrintedNumber> shorter;
};
struct Position {
  PrintedNumber length;
  std::int32_t position = 1;
};
struct Rounds {
  PrintedNumber rate;
  PrintedNumber rounds, other_rounds;
};

constexpr double max_drafted = 1000;

std::vector<Field> rate_fields(std::string_view drafted) {
  return {input("rate", &Rate::rate, "Accepted over drafted tokens."),
          input("drafted", &Rate::drafted, drafted)};
}

/// Clamps a rate to [0, 1], which rounding may exceed. Throws std::invalid_argument if it exceeds it by more.
double rate_of(const PrintedNumber& rate) {
  const double slack = rate.half_unit * (1 + 1e-9);
  if (rate < -slack || rate > 1 + slack) throw std::invalid_argument("a rate outside 0 to 1");
  return std::clamp(rate.value, 0.0, 1.0);
}

}  // namespace

std::vector<ClaimCheck> length_checks() {
  return {
      claim_check<Positions>(
          "length_by_positions", "Mean acceptance length from the rates by position.",
          {input("positions", &Positions::positions, "P[position i is accepted], over all rounds.")},
          "1 + sum(positions)", [](const Positions& in) { return 1 + sum_of(in.positions); }),
      claim_check<Positions>(
          "length_by_conditional", "Mean acceptance length from conditional rates by position.",
          {input("positions", &Positions::positions, "P[position i is accepted | those before were].")},
          "1 + sum of products(positions)",
          [](const Positions& in) {
            double length = 1, reached = 1;
            for (const PrintedNumber& rate : in.positions) length += reached *= rate;
            return length;
          },
          "the rates by position are conditional on the positions before, and from the rounds of the length"),
      claim_check<Counts>("length_by_counts", "Mean acceptance length from counts.",
                          {input("accepted", &Counts::accepted, "Accepted tokens of all rounds."),
                           input("rounds", &Counts::rounds, "Rounds, or verification steps.")},
                          "1 + accepted / rounds",
                          [](const Counts& in) { return 1 + in.accepted / in.rounds; }),
      claim_check<Rate>("length_by_rate", "Mean acceptance length from accepted over drafted tokens.",
                        rate_fields("Drafted tokens per round."), "1 + drafted rate",
                        [](const Rate& in) { return 1 + in.drafted * in.rate; }),
      claim_check<Rate>(
          "length_within_rate",
          "Mean acceptance length of rounds that draft up to so many tokens: fewer drafted tokens accept fewer.",
          rate_fields("Most drafted tokens of a round."), "1 to 1 + drafted rate",
          [](const Rate& in) { return Allowed(1, 1 + in.drafted * in.rate); }),
      claim_check<Rate>("accepted_by_rate", "Accepted tokens per round, without the bonus.",
                        rate_fields("Drafted tokens per round."), "drafted rate",
                        [](const Rate& in) { return in.drafted * in.rate; }),
      claim_check<Length>(
          "rate_with_bonus", "Emitted tokens over verified positions.",
          {input("length", &Length::length, "Mean acceptance length."),
           input("drafted", &Length::drafted, "Drafted tokens per round.")},
          "length / (drafted + 1)", [](const Length& in) { return in.length / (in.drafted + 1); },
          "rate and length are of the same texts"),
      claim_check<RateAndDraft>(
          "geometric_length", "1 + p + p^2 + ..., if the source itself computes the length in this way.",
          {input("rate", &RateAndDraft::rate, "p."),
           required(
               integer_field("drafted", &RateAndDraft::drafted, 0, max_drafted, "The last power of p."))},
          "1 + rate + ... + rate^drafted",
          [](const RateAndDraft& in) { return expected_tokens(rate_of(in.rate), in.drafted); }),
      claim_check<Extrapolated>(
          "independent_length", "Mean acceptance length at another number of drafted tokens.",
          {input("length", &Extrapolated::length, "Mean acceptance length that was measured."),
           required(integer_field("at", &Extrapolated::at, 1, max_drafted, "Drafted tokens of that round.")),
           required(integer_field("drafted", &Extrapolated::drafted, 1, max_drafted,
                                  "Drafted tokens for which the length is computed."))},
          "1 + a + ... + a^drafted, with the a that gives the length at \"at\"",
          [](const Extrapolated& in) {
            return expected_tokens(alpha_of_mean(in.length - 1, in.at), in.drafted);
          },
          "every drafted token is accepted independently with one probability"),
      claim_check<Curve>(
          "longer_draft",
          "A chain of one more token: it cannot emit fewer, nor gain more than the token before.",
          {input("shorter", &Curve::shorter, "Mean acceptance lengths of chains of 1, 2, ... tokens.")},
          "L(K-1) <= L(K) <= L(K-1) + (L(K-1) - L(K-2)), with L(0) = 1, L(-1) = 0",
          [](const Curve& in) {
            const std::size_t size = in.shorter.size();
            const double last = size > 0 ? in.shorter[size - 1].value : 1;
            const double before = size > 1 ? in.shorter[size - 2].value : size > 0 ? 1 : 0;
            return Allowed(last, last + std::max(last - before, 0.0));
          },
          "rounds begin at like contexts whatever K is, and there is no sampling error"),
      claim_check<Position>(
          "minimum_variance_rate",
          "Rate of a position if every round accepts one of the two whole numbers around the mean.",
          {input("length", &Position::length, "Mean acceptance length."),
           required(integer_field("position", &Position::position, 1, max_drafted, "From 1."))},
          "length - 1 - (position - 1), at least 0 and at most 1",
          [](const Position& in) { return std::clamp(in.length - in.position, 0.0, 1.0); }),
      claim_check<Rounds>(
          "same_first_rate", "The rate of position 1 at another number of drafted tokens.",
          {input("rate", &Rounds::rate, "Rate of position 1, at the first number of drafted tokens."),
           input("rounds", &Rounds::rounds, "Rounds over which it was counted."),
           input("other_rounds", &Rounds::other_rounds, "Rounds over which the other rate was counted.")},
          "rate +- 6 standard errors of a difference of two proportions",
          [](const Rounds& in) {
            // Two-sided, 6 standard errors are exceeded with probability 2e-9; printed tables have many
            // rates.
            constexpr double errors = 6;
            const double rate = rate_of(in.rate);
            const double spread =
                errors * std::sqrt(rate * (1 - rate) * (1 / in.rounds + 1 / in.other_rounds));
            return Allowed(rate - spread, rate + spread);
          },
          "rounds begin at like contexts whatever the number of drafted tokens is, and are independent"),
  };
}

}  // namespace speclab
