// Checks of speeds, times and the least cost of a round.
#include <limits>
#include <optional>
#include <stdexcept>

#include "analysis/cost/roofline.hpp"
#include "experiments/verify/claims/claim_check.hpp"

namespace speclab {

namespace {

struct Speed {
  PrintedNumber tokens;
  std::optional<PrintedNumber> plain;
};
struct RatedSpeed {
  PrintedNumber rate, drafted, plain;
};
struct Time {
  PrintedNumber tokens, plain;
};
struct Lengths {
  PrintedNumber from, to;
};
struct Goodput {
  std::vector<PrintedNumber> survivals;
  PrintedNumber steps;
};
struct Emitted {
  PrintedNumber rate, speedup;
};
struct Routing {
  std::int32_t experts = 1;
  std::int32_t per_token = 1;
  std::int32_t tokens = 1;
};

constexpr const char* plain_round = "a round takes at least as long as a step of plain decoding";

}  // namespace

std::vector<ClaimCheck> cost_checks() {
  constexpr double max_experts = 100000;
  return {
      claim_check<Speed>(
          "speed_at_most",
          "An upper bound on a speed (a speedup, or tokens per second) by the tokens per round.",
          {input("tokens", &Speed::tokens, "Tokens emitted per round, the bonus included."),
           field("plain", &Speed::plain, printed_number(),
                 "Speed of plain decoding; without it, the speedup.")},
          "at most tokens plain",
          [](const Speed& in) { return Allowed(0, in.tokens * (in.plain ? in.plain->value : 1)); },
          plain_round),
      claim_check<RatedSpeed>(
          "speed_within_rate", "The same bound from accepted over drafted tokens.",
          {input("rate", &RatedSpeed::rate, "Accepted over drafted tokens."),
           input("drafted", &RatedSpeed::drafted, "Most drafted tokens of a round."),
           input("plain", &RatedSpeed::plain, "Speed of plain decoding.")},
          "at most (1 + drafted rate) plain",
          [](const RatedSpeed& in) { return Allowed(0, (1 + in.drafted * in.rate) * in.plain); },
          plain_round),
      claim_check<Time>(
          "time_at_least", "A lower bound on a time per token by the tokens per round.",
          {input("tokens", &Time::tokens, "Tokens emitted per round, the bonus included."),
           input("plain", &Time::plain, "Time per token of plain decoding.")},
          "at least plain / tokens",
          [](const Time& in) {
            return Allowed(in.plain / in.tokens, std::numeric_limits<double>::infinity());
          },
          plain_round),
      claim_check<Lengths>(
          "gain_at_equal_cost", "Gain in speed that a gain in tokens per round gives, in percent.",
          {input("from", &Lengths::from, "Tokens per round of the reference."),
           input("to", &Lengths::to, "Tokens per round of the other.")},
          "100 (to / from - 1)", [](const Lengths& in) { return 100 * (in.to / in.from - 1); },
          "rounds of both take the same time"),
      claim_check<Goodput>(
          "goodput", "Expected tokens per second of one request whose first positions are verified.",
          {input("survivals", &Goodput::survivals, "P[positions 1 to i are accepted]; empty for none."),
           input("steps", &Goodput::steps, "Steps per second at that number of verified tokens.")},
          "(1 + sum(survivals)) steps",
          [](const Goodput& in) { return (1 + sum_of(in.survivals)) * in.steps; }),
      claim_check<Emitted>(
          "cost_by_emitted", "Time of a round in plain steps, from a speedup and a rate.",
          {input("rate", &Emitted::rate, "The printed acceptance rate."),
           input("speedup", &Emitted::speedup, "Over plain decoding.")},
          "1 / (1 - rate) / speedup", [](const Emitted& in) { return 1 / (1 - in.rate) / in.speedup; },
          "the rate is accepted over emitted tokens"),
      claim_check<Routing>(
          "independent_experts", "Distinct experts of a layer that several tokens use.",
          {required(integer_field("experts", &Routing::experts, 1, max_experts, "Experts of a layer.")),
           required(integer_field("per_token", &Routing::per_token, 1, max_experts,
                                  "Experts that one token uses.")),
           required(integer_field("tokens", &Routing::tokens, 1, max_experts, "Tokens that are verified."))},
          "experts (1 - (1 - per_token / experts)^tokens)",
          [](const Routing& in) {
            if (in.per_token > in.experts) throw std::invalid_argument("\"per_token\" above \"experts\"");
            Transformer model;
            model.experts = in.experts;
            model.active_experts = in.per_token;
            return independent_experts(model, in.tokens);
          },
          "tokens choose experts uniformly and independently"),
  };
}

}  // namespace speclab
