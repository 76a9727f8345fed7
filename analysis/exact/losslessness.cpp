#include "analysis/exact/losslessness.hpp"

#include "analysis/exact/enumeration_program.hpp"

namespace speclab {

template <class Real>
void compare(Losslessness<Real>& result) {
  const SequenceDistribution<Real> difference =
      distribution_difference(result.distribution, result.target_distribution);
  result.distance = total_variation_of(difference);
  Real largest(0);
  for (const auto& [tokens, gap] : difference) {
    const Real size = gap < Real(0) ? Real(-gap) : gap;
    if (size > largest) {
      largest = size;
      result.counterexample = tokens;
    }
  }
}
template void compare(Losslessness<double>&);
template void compare(Losslessness<Rational>&);

template <class Real>
Losslessness<Real> examine(ModelRef<Real> target, ModelRef<Real> draft, const EnumerableRule& rule,
                           std::int32_t gamma, std::span<const Token> context) {
  const RoundDistribution<Real> round = round_distribution<Real>(target, draft, rule, gamma, context);
  const auto length = static_cast<std::size_t>(gamma) + 1;
  Losslessness<Real> result;
  result.distribution = grow_distribution<Real>(context, length, [&](std::span<const Token> seen) {
    return seen.size() == context.size() ? round.emitted : plain_distribution<Real>(target, seen, 1, rule);
  });
  result.target_distribution = plain_distribution<Real>(target, context, length, rule);

  compare(result);
  result.accepted = round.accepted;
  for (std::size_t k = 0; k < round.accepted.size(); ++k)
    result.expected_accepted += Real(k) * round.accepted[k];
  result.expected_emitted = round.expected_tokens;
  result.rejection = round.rejected;
  result.branches = round.branches;
  return result;
}

template Losslessness<double> examine(ModelRef<double>, ModelRef<double>, const EnumerableRule&, std::int32_t,
                                      std::span<const Token>);
template Losslessness<Rational> examine(ModelRef<Rational>, ModelRef<Rational>, const EnumerableRule&,
                                        std::int32_t, std::span<const Token>);

}  // namespace speclab
