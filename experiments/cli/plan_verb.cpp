#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/cli/plan_answer.hpp"
#include "experiments/cli/verb.hpp"
#include "experiments/plan/presets.hpp"
#include "experiments/support/interrupt.hpp"

namespace speclab {

namespace {

int plan_main(const std::vector<std::string>& arguments) {
  Usage usage = plan_usage();
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  const bool json = values->count("json") > 0;
  if (values->count("list-devices") > 0) {
    json ? print_json(devices_json()) : fmt::print("{}", devices_text());
    return exit_ok;
  }
  if (values->count("list-models") > 0) {
    json ? print_json(models_json()) : fmt::print("{}", models_text());
    return exit_ok;
  }

  if (values->count("list-logs") > 0) {
    json ? print_json(logs_json()) : fmt::print("{}", logs_text());
    return exit_ok;
  }
  if (values->count("list-options") > 0) {
    json ? print_json(options_json()) : fmt::print("{}", options_text());
    return exit_ok;
  }

  const InterruptGuard guard;
  const auto answer = plan_answer(*values, {.stop = [] { return interrupted(); }});
  if (!answer) {
    fmt::print(stderr, "interrupted: nothing was planned\n");
    return exit_interrupted;
  }
  for (const std::string& warning : answer->warnings) fmt::print(stderr, "warning: {}\n", warning);
  json ? fmt::print("{}\n", answer->json) : fmt::print("{}", answer->text);
  return exit_ok;
}

}  // namespace

Verb plan_verb() {
  return {"plan",
          "choose drafter, gamma and server settings from an acceptance rate, a log or models, and costs",
          plan_main};
}

}  // namespace speclab
