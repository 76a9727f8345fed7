#include "serving/cli/plan_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "analysis/statistics/mean_accepted.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv.hpp"
#include "serving/advisor/plan_text.hpp"

namespace speclab {

namespace {

/// Returns the drafted tokens per round if rates are accepted / drafted; empty if they are alpha.
std::optional<double> of_drafted_option(const Values& values) {
  constexpr double longest = 1000;
  return values.has("of-drafted") ? std::optional(checked_number(values, "of-drafted", 1, longest))
                                  : std::nullopt;
}

std::string letters_of(const std::string& name) {
  std::string letters;
  for (const unsigned char letter : name) {
    if (std::isalnum(letter) != 0) letters += static_cast<char>(std::tolower(letter));
  }
  return letters;
}

/// Throws UsageError unless --server names the server of one of these.
template <class Settings>
void require_server(const Values& values, const Settings& settings) {
  std::set<std::string> known;
  for (const auto& one : settings) known.insert(one.server);
  const std::string& wanted = values.text("server");
  if (std::ranges::none_of(known, [&](const auto& one) { return letters_of(one) == letters_of(wanted); }))
    throw UsageError("--server {}: expected one of {}", wanted, fmt::join(known, ", "));
}

}  // namespace

void add_rate_option(Verb& verb) {
  verb.add<double>("of-drafted",
                   "the given rate is accepted / drafted tokens, at this many drafted per round");
}

void add_batch_option(Verb& verb) { verb.add_value("batch", number_or(1), "sequences decoded together"); }

void add_max_gamma_option(Verb& verb, int otherwise) {
  verb.add_value("max-gamma", number_or(otherwise), "largest gamma considered");
}

void add_costs_and_answer(Verb& verb) {
  verb.section("Costs");
  add_cost_options(verb.options);
  add_batch_option(verb);
  verb.add_value("context", number_or(1024), "tokens of context before the new ones");
  verb.add_value("memory-share", number_or(0.9), "usable share of the device's memory");
  add_method_option(verb.options);
  add_setting_options(verb);
  add_answer_options(verb);
}

void add_setting_options(Verb& verb) {
  verb.section("Settings of servers");
  verb.add<std::string>("server NAME", "one server's settings, with older forms and a check");
  verb.add<std::string>("model-name NAME", "the target's name in settings");
  verb.add("benchmark-settings", "add settings that simulate the planned acceptance");
}

void check_server(const Values& values) {
  if (values.count("server") != 0) require_server(values, server_options());
}

void choose_settings(const Values& values, std::vector<ServerSetting>& settings) {
  if (!values.has("benchmark-settings")) {
    for (ServerSetting& one : settings) one.synthetic.reset();
  }
  if (!values.has("server") || settings.empty()) return;
  require_server(values, settings);
  std::erase_if(settings, [&](const ServerSetting& one) {
    return letters_of(one.server) != letters_of(values.text("server"));
  });
}

void add_choice_options(Verb& verb) {
  add_max_gamma_option(verb, PlanSettings().max_gamma);
  verb.add_value("max-batch", number_or(512), "largest batch considered");
}

void add_answer_options(Verb& verb) {
  verb.section("Output");
  verb.add_value("confidence", number_or(0.95), "confidence of intervals");
  verb.add("json", "print JSON");
  add_page_option(verb);
}

PlanSettings plan_settings(const Values& values) {
  PlanSettings settings;
  const auto set = [&](double& setting, const char* name, double least, double most) {
    if (values.has(name)) setting = checked_number(values, name, least, most);
  };
  const auto set_whole = [&](auto& setting, const char* name, double least, double most) {
    if (values.has(name)) setting = static_cast<int>(checked_count(values, name, least, most));
  };
  set(settings.at.batch, "batch", 1, 1e6);
  set(settings.at.context, "context", 0, 1e8);
  set_whole(settings.max_gamma, "max-gamma", 1, 1000);
  set_whole(settings.max_batch, "max-batch", 1, 10000);
  set(settings.memory_share, "memory-share", 0.01, 1);
  if (values.has("confidence")) settings.confidence = confidence_option(values);
  return settings;
}

double confidence_option(const Values& values) {
  const auto confidence = values["confidence"].as<double>();
  if (confidence > 0 && confidence < 1) return confidence;
  throw UsageError("--confidence {}: expected a number between 0 and 1", confidence);
}

double alpha_of_rate(const Values& values, double rate, const std::string& where) {
  if (!(rate >= 0 && rate <= 1))
    throw UsageError(
        "{}: alpha = {}; expected a number from 0 to 1{}", where, rate,
        rate > 1 ? "; for a mean of L tokens emitted a round of γ drafts, give (L - 1)/γ and --of-drafted γ"
                 : "");
  const auto gamma = of_drafted_option(values);
  return gamma ? alpha_of_mean(rate * *gamma, *gamma) : rate;
}

std::string rate_note(const Values& values, double rate) {
  if (const auto gamma = of_drafted_option(values)) {
    return fmt::format("from {:g} accepted / drafted at γ = {:g}, if acceptances are i.i.d.", rate, *gamma);
  }
  return "Read as accepted / examined. If your server printed accepted / drafted, add --of-drafted γ.";
}

double rate_option(const Values& values) {
  const std::string& text = values.text("alpha");
  const auto rate = number_in(text);
  if (!rate) throw UsageError("alpha: \"{}\"; expected a number from 0 to 1", text);
  alpha_of_rate(values, *rate, "alpha");
  return *rate;
}

std::vector<double> number_list(const std::string& where, const std::string& text,
                                const std::string& expected, std::size_t most,
                                const std::function<bool(double)>& holds) {
  std::vector<double> numbers;
  for (const std::string& word : split(text, ',')) {
    const auto number = number_in(word);
    if (!number || !holds(*number))
      throw UsageError("{} {}: \"{}\"; expected {}", where, text, word, expected);
    numbers.push_back(*number);
  }
  if (numbers.size() > most) throw UsageError("{}: {} numbers; at most {}", where, numbers.size(), most);
  return numbers;
}

PlanAnswer answer_of_drafter(const Values& values, const Drafter& drafter, const PlanSettings& settings) {
  DrafterPlan plan = make_plan(drafter, settings);
  plan.settings = drafter_settings(drafter, plan);
  return answer_of(values, std::move(plan), plan_text, plan_headline, plan_figures);
}

}  // namespace speclab
