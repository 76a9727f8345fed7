#include <fmt/format.h>

#include "experiments/verbs/verb.hpp"

namespace speclab {

namespace {

void print_family(const char* title, const Family& family) {
  fmt::print("{}\n", title);
  for (const Shape& shape : family.kinds) {
    fmt::print("  {:<24}{}\n", shape.name, shape.doc);
    for (const Field& field : shape.fields) {
      if (field.name == "sampling") continue;
      fmt::print("    {:<22}{}{}\n", field.name, field.doc,
                 field.fallback.is_null() ? (field.required ? " (required)" : "")
                                          : fmt::format(" (default {})", field.fallback.dump()));
    }
  }
  fmt::print("\n");
}

}  // namespace

int list_verb(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab list",
      .about = "Lists every model, drafter, verifier, gamma policy, schedule and experiment of configs.",
      .examples = "  speclab list\n",
      .positional = ""};
  if (!parse(usage, arguments)) return exit_ok;
  print_family("Models (any model can be the target or the draft):", model_family());
  print_family("Drafters of the experiment \"compare\":", drafter_family());
  print_family("Verifiers:", verifier_family());
  print_family("Gamma policies:", policy_family());
  print_family("Schedules:", schedule_family());
  print_family("Experiments:", experiment_family());
  return exit_ok;
}

}  // namespace speclab
