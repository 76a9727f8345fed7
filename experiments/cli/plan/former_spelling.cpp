// `speclab plan` as it was spelled before it had verbs of its own; goes with the next release.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/cli/plan/plan_way.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/support/shell_word.hpp"

namespace speclab {

namespace po = boost::program_options;

namespace {

constexpr std::array former_lists{"devices", "models", "options", "logs"};

/// Options of all ways, and those that said which way is meant.
po::options_description former_options() {
  po::options_description all;
  auto add = all.add_options();
  for (const char* way : {"alpha", "log", "recording", "config", "drafter"})
    add(way, po::value<std::string>());
  add("measure", "");
  for (const char* list : former_lists) add(("list-" + std::string(list)).c_str(), "");
  for (const PlanWay& way : plan_ways()) {
    for (const auto& option : way.verb.options.options()) {
      if (all.find_nothrow(option->long_name(), false) == nullptr) all.add(option);
    }
  }
  return all;
}

std::vector<po::option> parsed_words(const Words& words) {
  const po::options_description known = former_options();
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  try {
    return po::command_line_parser(words).options(known).style(style).run().options;
  } catch (const po::error& error) {
    throw UsageError("{} (see speclab plan --help)", error.what());
  }
}

}  // namespace

Words present_plan_words(const Words& words) {
  if (words.empty() || !words[0].starts_with("-")) return words;
  const std::vector<po::option> options = parsed_words(words);
  const auto given = [&](const std::string& name) {
    return std::any_of(options.begin(), options.end(),
                       [&](const auto& one) { return one.string_key == name; });
  };
  Words present;
  for (const std::string list : former_lists) {
    if (given("list-" + list)) return given("json") ? Words{"list", list, "--json"} : Words{"list", list};
  }
  const bool measures = given("measure");
  std::vector<std::string> named;
  for (const char* way : {"alpha", "log", "recording", "config", "drafter"}) {
    if (given(way)) named.emplace_back(way);
  }
  if (!measures && named.size() != 1)
    throw UsageError(
        "plan: where is acceptance known from? One of alpha, log, recording, config, measure and drafters");
  present.push_back(measures ? "measure" : named[0] == "drafter" ? "drafters" : named[0]);
  const std::string positional = measures ? "config" : named[0];
  Words rest;
  for (const po::option& option : options) {
    if (option.string_key == "measure") continue;
    if (option.string_key == positional) {
      present.push_back(file_argument(option.value.front()));
    } else if (measures && option.string_key == "model") {
      for (const std::string& word : option_words("--target", option.value.front())) rest.push_back(word);
    } else {
      rest.insert(rest.end(), option.original_tokens.begin(), option.original_tokens.end());
    }
  }
  present.insert(present.end(), rest.begin(), rest.end());
  return present;
}

}  // namespace speclab
