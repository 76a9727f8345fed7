#include "experiments/check/check_section.hpp"

namespace speclab {

const SectionKind& check_section() {
  using C = CheckSection;
  static const SectionKind kind{
      "check",
      object<C>(
          "check",
          "The test of `speclab check`: the distribution of the first tokens, speculative against plain.",
          {integer_field("tokens", &C::tokens, 1, 64, "Tokens whose joint distribution is compared."),
           integer_field("samples", &C::samples, 100, 5e7, "Sequences from each decoder."),
           field("level", &C::level, number_above(0, 0.5), "Probability of a false alarm."),
           field("power", &C::power, number_above(0, 0.999999),
                 "Power at which the detectable effect is stated.")})
          .type};
  return kind;
}

}  // namespace speclab
