#include "sim/acceptance_stream.hpp"

#include "core/stop.hpp"
#include "sim/any_rule.hpp"
#include "sim/decode.hpp"

namespace speclab {

AcceptanceBits iid_acceptances(double alpha, std::uint64_t seed, std::uint32_t trial, std::size_t positions) {
  BernoulliStream stream(seed, trial, iid_stream_slot, alpha);
  AcceptanceBits bits(positions);
  StopCounter now_and_then(1 << 16);
  for (std::uint8_t& bit : bits) {
    bit = stream.bernoulli() ? 1 : 0;
    now_and_then.step();
  }
  return bits;
}

AcceptanceBits pair_acceptances(const Model& target, const Model& draft, const AnyRule& rule,
                                const SimulationSize& simulation, std::uint32_t trial, std::size_t positions,
                                std::vector<Token>* text) {
  AcceptanceBits bits(positions);
  std::vector<Token> context = simulation.prompt(trial);
  const std::size_t start = context.size();
  std::vector<double> target_scratch;
  std::vector<double> draft_scratch;
  for (std::size_t at = 0; at < positions; ++at) {
    end_if_stopped();
    const Row target_row = target.next(context, target_scratch);
    const Row draft_row = draft.next(context, draft_scratch);
    SampledRandomSource random =
        sampled_random_source(simulation.seed, trial, static_cast<std::uint32_t>(at));
    const Token drafted = random.categorical(Draw{Use::draft, pair_stream_slot}, draft_row);
    if (drafted < 0) throw_invalid_row();
    const PositionOutcome outcome = rule->decide(drafted, target_row, draft_row, pair_stream_slot, random);
    if (outcome.token < 0) throw_invalid_row();
    bits[at] = outcome.accepted ? 1 : 0;
    context.push_back(outcome.token);
  }
  if (text != nullptr) text->assign(context.begin() + static_cast<std::ptrdiff_t>(start), context.end());
  return bits;
}

}  // namespace speclab
