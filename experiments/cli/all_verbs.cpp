// Lists every verb in the order of help, one line each.
#include "experiments/cli/program.hpp"

// clang-format off
#define SPECLAB_VERBS(ENTRY) \
  ENTRY(run)                 \
  ENTRY(reproduce)           \
  ENTRY(sweep)               \
  ENTRY(compare)             \
  ENTRY(plot)                \
  ENTRY(paper)               \
  ENTRY(status)              \
  ENTRY(merge)               \
  ENTRY(predict)             \
  ENTRY(plan)                \
  ENTRY(record)              \
  ENTRY(prove)               \
  ENTRY(check)               \
  ENTRY(bench)               \
  ENTRY(exact)               \
  ENTRY(convert)             \
  ENTRY(list)                \
  ENTRY(config)              \
  ENTRY(validate)            \
  ENTRY(schema)              \
  ENTRY(completion)          \
  ENTRY(version)
// clang-format on

namespace speclab {

#define SPECLAB_DECLARE_VERB(name) Verb name##_verb();
SPECLAB_VERBS(SPECLAB_DECLARE_VERB)

std::vector<Verb>& verbs() {
#define SPECLAB_LIST_VERB(name) name##_verb(),
  static std::vector<Verb> all{SPECLAB_VERBS(SPECLAB_LIST_VERB)};
  return all;
}

}  // namespace speclab
