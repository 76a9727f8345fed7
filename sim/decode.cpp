#include "sim/decode.hpp"

#include "sim/error.hpp"

namespace speclab {

void throw_invalid_row() {
  throw ModelError(
      "a model produced a row that holds NaN or infinity, or sums to 0; sampling options can forbid all of it");
}

void record_overlap(Tally& tally, double value, std::uint64_t contexts) {
  if (!(value >= 0)) throw_invalid_row();
  tally.add_overlap(value, contexts);
}

Outcome decode_speculatively(const Model& target, const Model& draft, const AnyRule& rule, std::int32_t gamma,
                             const SimulationSize& simulation, const Control& control) {
  const bool constant = target.context_free() && draft.context_free();
  std::vector<double> target_scratch;
  std::vector<double> draft_scratch;
  const double constant_overlap =
      constant ? rule->context_acceptance(target.next(simulation.prompt(0), target_scratch),
                                          draft.next(simulation.prompt(0), draft_scratch))
               : 0;

  return run_trials(
      simulation, control,
      [&](std::uint32_t trial, std::uint32_t number, std::vector<Token>& context, Tally& tally,
          RoundScratch<double>& scratch) {
        SampledRandomSource random = sampled_random_source(simulation.seed, trial, number);
        std::vector<double>& rates = scratch.acceptance_rates;
        rates.clear();
        const Round round = rule->round(target, draft, gamma, context, random, scratch,
                                        constant ? RoundWatch() : RoundWatch::acceptance_rates(rates));
        if (round.next < 0) throw_invalid_row();
        if (constant) record_overlap(tally, constant_overlap, static_cast<std::uint64_t>(round.accepted) + 1);
        for (const double rate : rates) record_overlap(tally, rate);
        tally.add_round(round);
      });
}

Token plain_token(const AnyRule& rule, Row target, std::uint64_t seed, std::uint32_t trial,
                  std::uint32_t round) {
  SampledRandomSource random = sampled_random_source(seed, trial, round);
  const Token token = rule->plain_token(target, random);
  if (token < 0) throw_invalid_row();
  return token;
}

Outcome measure_acceptance(const Model& target, const Model& draft, const AnyRule& rule,
                           const SimulationSize& simulation, const Control& control) {
  return run_trials(
      simulation, control,
      [&](std::uint32_t trial, std::uint32_t round, std::vector<Token>& context, Tally& tally,
          RoundScratch<double>& scratch) {
        scratch.reserve(0, 1);
        const Row target_row = target.next(context, scratch.target_rows[0]);
        record_overlap(tally, rule->context_acceptance(target_row, draft.next(context, scratch.extra_row)));
        context.push_back(plain_token(rule, target_row, simulation.seed, trial, round));
      });
}

}  // namespace speclab
