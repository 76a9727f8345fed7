#include "experiments/calibration/calibration_section.hpp"

namespace speclab {

const SectionKind& calibration_section() {
  using C = CalibrationSection;
  const auto reference =
      choice<EqualityReference>({{"exact_distribution", EqualityReference::exact_distribution},
                                 {"second_sample", EqualityReference::second_sample}},
                                {{"exact_law", "exact_distribution"}});
  static const SectionKind kind{
      "calibration",
      object<C>("calibration",
                "The experiment calibration: the tests of `speclab check`, repeated on small samples.",
                {integer_field("tokens", &C::tokens, 1, 16, "Tokens whose distribution is tested."),
                 field("against", &C::reference, reference, "What stands for the target's distribution."),
                 integer_field("repeats", &C::repeats, 20, 1e6, "Tests under the null."),
                 integer_field("samples", &C::samples, 10, 1e6, "Sequences in each of them."),
                 field("faults", &C::faults, list(kind_of(rule_family()), 0, 16),
                       "Rules that are not lossless, to be detected; a power curve each."),
                 integer_field("power_repeats", &C::power_repeats, 20, 1e6,
                               "Tests at each point of a power curve."),
                 field("power_samples", &C::power_samples, list(integer<std::uint32_t>(10, 1e6), 1, 64),
                       "Sequences in each of these tests: the points of the curves."),
                 field("level", &C::level, number_above(0, 0.5), "Level of the power curves.")})
          .type};
  return kind;
}

}  // namespace speclab
