// Lists every section of a config, one line each.
#include "experiments/config/shown_config.hpp"

// clang-format off
#define SPECLAB_SECTIONS(ENTRY) \
  ENTRY(search)                 \
  ENTRY(check)                  \
  ENTRY(prove)                  \
  ENTRY(trace)                  \
  ENTRY(walltime)               \
  ENTRY(rules)                  \
  ENTRY(beam)                   \
  ENTRY(schedules)              \
  ENTRY(serving)                \
  ENTRY(compare)                \
  ENTRY(printed)                \
  ENTRY(scaling)
// clang-format on

namespace speclab {

#define SPECLAB_DECLARE_SECTION(name) SectionKind name##_section();
SPECLAB_SECTIONS(SPECLAB_DECLARE_SECTION)

std::vector<SectionKind>& section_kinds() {
#define SPECLAB_LIST_SECTION(name) name##_section(),
  static std::vector<SectionKind> kinds{SPECLAB_SECTIONS(SPECLAB_LIST_SECTION)};
  return kinds;
}

}  // namespace speclab
