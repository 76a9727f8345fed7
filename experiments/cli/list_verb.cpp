#include <fmt/format.h>

#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/families.hpp"
#include "experiments/cli/reference.hpp"

namespace speclab {

Verb list_verb() {
  Verb verb{
      .name = "list",
      .sentence = "list models, drafters, rules, policies and experiments with their parameters",
      .line = "speclab list [WHAT] [--markdown]",
      .about =
          R"(Lists every model, drafter, rule, gamma policy, schedule and experiment of configs; WHAT is one of these
words, the name of an entry, or a key of configs (temperature, sampling.temperature).
)",
      .examples = R"(  speclab list
  speclab list rules
  speclab list mixture
  speclab list --markdown > reference.md
)",
      .positional = "what",
      .optional_positional = true,
      .run = [](const Values& values) {
        const bool markdown = values.has("markdown");
        const std::string what = values.given("what").value_or("");
        if (markdown && !what.empty())
          throw UsageError("--markdown prints the whole format; leave out " + what);
        fmt::print("{}", markdown ? reference_markdown(families()) : list_text(families(), what));
        return exit_ok;
      }};
  verb.add("markdown", "print the whole config format as a page");
  return verb;
}

}  // namespace speclab
