#include "experiments/rules/rules_section.hpp"

namespace speclab {

const SectionKind& rules_section() {
  static const SectionKind kind{
      .key = "rules",
      .type = object<RulesSection>(
                  "rules", "Whether the experiment rules tests equality besides.",
                  {formerly(field("equality_test", &RulesSection::equality_test, boolean(),
                                  "Beside a proved distance of 0 to the target, run the test of `speclab "
                                  "check` (section \"check\")."),
                            {"witness"})})
                  .type,
      .aliases = {"verifiers"}};
  return kind;
}

}  // namespace speclab
