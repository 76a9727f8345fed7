#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/support/interrupt.hpp"
#include "serving/advisor/presets.hpp"
#include "serving/cli/plan_way.hpp"

namespace speclab {

namespace {

int run_plan(const PlanWay& way, const Values& values) {
  const auto lock = page_lock(values);
  check_server(values);
  auto answer = way.answer(values, {.stop = [] { return interrupted(); }});
  if (!answer) return interrupted_exit("nothing was planned");
  for (std::string& file : named_files(values)) answer->inputs.push_back(std::move(file));
  show_finding(values, *answer);
  if (values.has("json")) {
    for (const std::string& warning : answer->warnings) print_error("warning: " + warning);
    if (answer->unfit) print_error("warning: it does not fit: " + *answer->unfit);
  }
  return answer->unfit ? exit_failed_check : exit_ok;
}

int list_presets(const Values& values) {
  const PresetList& found = named_entry(preset_lists(), values.text("what"), [&](const std::string& near) {
    return UsageError("plan list: unknown \"{}\"{}", values.text("what"), near);
  });
  values.has("json") ? print_json(found.json()) : fmt::print("{}", found.text());
  return exit_ok;
}

Verb plan_list_verb() {
  Verb verb{
      .name = "list",
      .sentence = "list known devices, models, options of servers and formats of logs, with their sources",
      .line = "speclab plan list devices|models|options|logs [--json]",
      .about =
          "Prints the devices and models with known costs, the options of servers that plans print, or the formats of logs with a sample of each.",
      .examples = "  speclab plan list devices\n  speclab plan list logs\n",
      .positional = "what",
      .run = list_presets};
  verb.add("json", "print JSON");
  return verb;
}

}  // namespace

const std::vector<PlanWay>& plan_ways() {
  static const std::vector<PlanWay> ways{plan_alpha(), plan_log(),     plan_recording(), plan_measure(),
                                         plan_load(),  plan_compare(), plan_sweep()};
  return ways;
}

Verb plan_verb() {
  std::vector<std::string> names;
  for (const PlanWay& way : plan_ways()) names.push_back(way.verb.name);
  Verb verb{
      .name = "plan",
      .sentence = "choose gamma and server settings from an acceptance rate, a log or models, and costs",
      .line = fmt::format("speclab plan {} ... [options]", fmt::join(names, "|")),
      .about =
          R"(Plans speculative decoding: the best number of drafted tokens, the expected speedup,
the batch beyond which it stops paying, and settings for five servers. The word after plan says where acceptance comes from.
Exit code: 0, 1 if the plan does not fit the device's memory, 2 for bad input, 130 interrupted.
)",
      .examples = R"(  speclab plan alpha 0.75 --c 0.02
  speclab plan alpha 0.75 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4
  speclab plan log accept.csv --c 0.02
  speclab plan recording recorded.csv --c 0.05
  speclab plan measure --target target.gguf --draft draft.gguf
)",
      .of_number = "alpha"};
  for (const PlanWay& way : plan_ways()) {
    Verb& one = verb.verbs.emplace_back(way.verb);
    one.run = [&way](const Values& values) { return run_plan(way, values); };
  }
  verb.verbs.push_back(plan_list_verb());
  return verb;
}

}  // namespace speclab
