#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/advisor/presets.hpp"
#include "experiments/cli/finding_page.hpp"
#include "experiments/cli/plan_answer.hpp"
#include "experiments/cli/verb.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/shell_word.hpp"

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

  const std::filesystem::path folder = page_folder(*values);
  const auto answer = plan_answer(*values, {.stop = [] { return interrupted(); }});
  if (!answer) {
    fmt::print(stderr, "interrupted: nothing was planned\n");
    return exit_interrupted;
  }
  for (const std::string& warning : answer->warnings) fmt::print(stderr, "warning: {}\n", warning);
  std::string input;
  for (const char* option : {"log", "recording", "config"}) {
    if (values->count(option) > 0) input = (*values)[option].as<std::string>();
  }
  write_finding(folder, {.title = "A plan for speculative decoding",
                         .headline = answer->headline,
                         .figures = answer->figures,
                         .text = answer->text,
                         .json = answer->json,
                         .command = shell_command("speclab plan", arguments),
                         .input = input});
  json ? fmt::print("{}\n", answer->json) : fmt::print("{}", terminal(answer->text));
  return exit_ok;
}

}  // namespace

Verb plan_verb() {
  return {"plan",
          "choose drafter, gamma and server settings from an acceptance rate, a log or models, and costs",
          plan_main};
}

}  // namespace speclab
