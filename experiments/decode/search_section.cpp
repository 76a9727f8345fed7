#include "experiments/decode/search_section.hpp"

namespace speclab {

const SectionKind& search_section() {
  static const SectionKind kind{
      "search",
      object<SearchSection>(
          "search", "The search for the best gamma, by the experiment optimal_gamma and by `speclab exact`.",
          {integer_field("max_gamma", &SearchSection::max_gamma, 1, 64, "Largest gamma tried.")})
          .type};
  return kind;
}

}  // namespace speclab
