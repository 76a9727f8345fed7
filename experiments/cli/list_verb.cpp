#include <fmt/format.h>

#include "experiments/catalog/families.hpp"
#include "experiments/cli/reference.hpp"
#include "experiments/cli/verb.hpp"

namespace speclab {

namespace {

int list_main(const std::vector<std::string>& arguments) {
  Usage usage{.line = "speclab list [WHAT] [--markdown]",
              .about =
                  "Lists every model, drafter, rule, gamma policy, schedule and experiment of configs; WHAT "
                  "is one of\n"
                  "these words, or a name.\n",
              .examples =
                  "  speclab list\n  speclab list rules\n  speclab list mixture\n"
                  "  speclab list --markdown > docs/reference.md\n",
              .positional = "what",
              .optional_positional = true};
  usage.options.add_options()("markdown", "the whole config format as a page");
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  const bool markdown = values->count("markdown") > 0;
  const std::string what = values->count("what") > 0 ? (*values)["what"].as<std::string>() : std::string();
  if (markdown && !what.empty()) throw UsageError("--markdown prints the whole format; leave out " + what);
  fmt::print("{}", markdown ? reference_markdown(families()) : list_text(families(), what));
  return exit_ok;
}

}  // namespace

Verb list_verb() {
  return {"list", "what there is: models, drafters, rules, policies, experiments", list_main};
}

}  // namespace speclab
