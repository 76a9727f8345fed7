#include <fmt/format.h>

#include "experiments/catalog/families.hpp"
#include "experiments/cli/verb.hpp"
#include "experiments/config/reference.hpp"

namespace speclab {

namespace {

int list_main(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab list [--markdown]",
      .about = "Lists every model, drafter, rule, gamma policy, schedule and experiment of configs.\n",
      .examples = "  speclab list\n  speclab list --markdown > docs/reference.md\n"};
  usage.options.add_options()("markdown", "the whole config format as a page");
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  const bool markdown = values->count("markdown") > 0;
  fmt::print("{}", markdown ? reference_markdown(families()) : list_text(families()));
  return exit_ok;
}

}  // namespace

Verb list_verb() {
  return {"list", "what there is: models, drafters, rules, policies, experiments", list_main};
}

}  // namespace speclab
