#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "experiments/base/command/options.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/progress.hpp"
#include "experiments/config/config.hpp"
#include "serving/advisor/acceptance_file.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"
#include "serving/study/load_plan.hpp"
#include "serving/study/load_policies.hpp"

namespace speclab {

namespace {

std::vector<double> rates_of(const Values& values) {
  const std::string& text = values.text("rate");
  constexpr std::size_t most = 100;
  const std::vector<double> rates =
      number_list("--rate", text, "requests per second from 1e-6 to 1e9, such as 4 or 1,2,4,8", most,
                  [](double rate) { return rate >= 1e-6 && rate <= 1e9; });
  if (std::adjacent_find(rates.begin(), rates.end(), std::greater_equal<>()) != rates.end())
    throw UsageError("--rate {}: expected increasing rates", text);
  return rates;
}

/// Returns the log that ALPHA names, if it is no number.
std::optional<AcceptanceFile> given_log(const Values& values) {
  if (!values.has("alpha") || number_in(values.text("alpha"))) return std::nullopt;
  const std::string& file = values.text("alpha");
  if (file != "-" && !std::filesystem::exists(file))
    throw UsageError("alpha: \"{}\"; expected a number from 0 to 1, or the file of a log", file);
  refuse_given(values, {"of-drafted"}, "ALPHA is a log, which says itself how many tokens were drafted");
  return read_acceptance(file);
}

/// Returns the acceptance rate of each position, given that those before are accepted.
std::vector<double> rates_by_position(const PositionCounts& counts) {
  std::vector<double> rates;
  for (std::size_t i = 0; i < counts.examined.size() && counts.examined[i] > 0; ++i)
    rates.push_back(static_cast<double>(counts.accepted[i]) / static_cast<double>(counts.examined[i]));
  return rates;
}

std::string log_words(const AcceptanceFile& log, const std::string& file) {
  if (log.means)
    return fmt::format("from {} ({}), whose means give one rate if acceptances are i.i.d.", file, log.format);
  return fmt::format("{:.3g} by position, from {} rounds of {} ({})",
                     fmt::join(rates_by_position(log.counts), ", "), log.counts.rounds, file, log.format);
}

/// Throws ConfigError for a key of --set that plan load does not read, and for one that ALPHA or --rate
/// gives.
void check_changes(const Values& values, const Json& known, const Json& changed) {
  const Type* const section = std::ranges::find(section_kinds(), "serving", &SectionKind::key)->type.get();
  for (const auto& [key, value] : changed.items()) {
    if (!known.contains(key) && key != "alpha")
      throw ConfigError("/" + key, "plan load does not read it; {}",
                        find_named(section->object()->fields(), key)
                            ? fmt::format("did you mean serving.{}?", key)
                            : "leave it out");
  }
  constexpr const char* by_alpha = "ALPHA gives it, too; leave one of them out";
  if (known.contains("alpha") && changed.value("alpha", Json()) != known["alpha"])
    throw ConfigError("/alpha", by_alpha);
  if (!changed["serving"].is_object()) return;
  const Json& serving = known["serving"];
  if (serving.contains("acceptance") &&
      changed["serving"].value("acceptance", Json()) != serving["acceptance"])
    throw ConfigError("/serving/acceptance", by_alpha);
  if (values.has("rate") && changed["serving"].contains("requests_per_second"))
    throw ConfigError("/serving/requests_per_second", "--rate gives it, too; leave one of them out");
}

/// Returns whether a --set gives costs: serving.cost.c=1, /serving/cost/c=1, or serving={"cost": ...}.
bool sets_costs(std::string set) {
  std::replace(set.begin(), set.begin() + static_cast<std::ptrdiff_t>(std::min(set.find('='), set.size())),
               '/', '.');
  if (set.starts_with('.')) set.erase(0, 1);
  return set.starts_with("serving.cost") ||
         (set.starts_with("serving=") && set.find("\"cost\"") != std::string::npos);
}

/// Returns the config of one server: from the options, then the changes of --set, then the defaults of plan
/// load. `section` becomes the section without the defaults.
Config config_of(const Values& values, const std::optional<AcceptanceFile>& log, Json& section) {
  Json document{{"title", "a server under load"}, {"experiment", "serving"}, {"serving", Json::object()}};
  Json costs = given_costs(values);
  if (!costs.contains("target_times") && !costs.contains("draft_times") &&
      std::ranges::none_of(values.texts("set"), sets_costs))
    require_models(costs);
  if (!costs.empty()) document["serving"]["cost"] = std::move(costs);
  if (log && log->means) {
    document["alpha"] = alpha_of_means(*log->means, confidence_option(values)).estimate;
  } else if (log) {
    document["serving"]["acceptance"] = {{"kind", "positions"}, {"rates", rates_by_position(log->counts)}};
  } else if (values.has("alpha")) {
    document["alpha"] = alpha_of_rate(values, rate_option(values), "alpha");
  }
  if (values.has("trace")) document["serving"]["trace"] = values.text("trace");
  if (values.has("trace-unit")) document["serving"]["trace_unit"] = values.text("trace-unit");
  document["seed"] = values["seed"].as<std::int64_t>();
  document["confidence"] = confidence_option(values);
  const Json known = document;
  for (const std::string& assignment : values.texts("set")) apply_assignment(document, assignment);
  check_changes(values, known, document);
  section = document["serving"];
  if (!section.is_object()) return read_config(document);  // throws the error
  const bool trace = section.contains("trace");
  for (const char* other : {"prompt", "output"}) {
    if (trace && section.contains(other))
      throw ConfigError(fmt::format("/serving/{}", other), "a trace has its own: leave it out");
  }
  Json& whole = document["serving"];
  // Defaults of plan load replace those of the section.
  if (!whole.contains("length_variation") && !trace) whole["length_variation"] = 1;
  if (!whole.contains("requests")) whole["requests"] = 1000;
  Json& cost = whole["cost"];
  if (cost.is_null() || (cost.is_object() && !cost.contains("kind")))
    cost["kind"] = cost.contains("target_times") ? "times" : "models";
  return read_config(document);
}

LoadQuestion question_of(const Values& values, const std::optional<AcceptanceFile>& log) {
  if (!values.has("alpha")) refuse_given(values, {"of-drafted"}, "no ALPHA is given that it could mean");
  Json given;
  const Config config = config_of(values, log, given);
  const auto asked = static_cast<int>(checked_count(values, "max-gamma", 1, longest_draft));
  // Acceptance beyond the log's longest draft is not known.
  LoadQuestion question =
      load_question(config, log ? std::min(asked, static_cast<int>(log->longest())) : asked);
  if (log) {
    question.acceptance_words = log_words(*log, values.text("alpha"));
    if (question.target.empty()) question.target = log->model;
  }
  name_target(values, question);
  question.any_layout = !(given.contains("engine") && given["engine"].contains("replicas"));
  if (given.contains("burst_seconds") && question.server.bursts <= 1)
    throw ConfigError("/serving/burst_seconds", "there are no bursts; leave it out, or give bursts above 1");
  refuse_unread(values, question.costs);
  question.memory_share = checked_number(values, "memory-share", 0.01, 1);
  if (values.has("rate")) question.rates = rates_of(values);
  if (question.rates.empty() && question.server.trace) question.rates = {*mean_rate(load_stream(question))};
  question.usual_size = !given.contains("requests");
  ServingSection& server = question.server;
  if (!given.contains("settle")) {
    server.settle = server.requests / 5;
    if (!given.contains("settle_after")) server.settle_after = server.requests / 10;
  }
  return question;
}

std::optional<PlanAnswer> answer_load(const Values& values, const Control& control) {
  try {
    const std::optional<AcceptanceFile> log = given_log(values);
    const LoadQuestion question = question_of(values, log);
    const ThreadLimit limit(thread_option(values));
    Progress progress("simulated requests", layouts_work(question), values.has("quiet"));
    const Control watched{.stop = control.stop,
                          .progress = [&](std::uint64_t requests) { progress.advance(requests); }};
    auto plan = plan_layouts(question, watched);
    if (!plan) return std::nullopt;
    if (log) {
      plan->warnings.insert(plan->warnings.begin(), log->warnings.begin(), log->warnings.end());
      if (question.max_gamma == static_cast<int>(log->longest()))
        plan->warnings.push_back(
            fmt::format("No γ above {}, the longest draft of the log, is compared", log->longest()));
    } else if (values.has("alpha")) {
      plan->acceptance += (values.has("of-drafted") ? "; " : ". ") + rate_note(values, rate_option(values));
    }
    PlanAnswer answer = answer_of(values, std::move(*plan), load_text, load_headline, load_figures);
    if (question.server.trace && !values.has("trace")) answer.inputs = {*question.server.trace};
    return answer;
  } catch (const ConfigError& error) {
    // Costs that come from options are named by them.
    constexpr std::string_view costs = "/serving/cost/";
    if (!error.path.starts_with(costs) || std::ranges::any_of(values.texts("set"), sets_costs)) throw;
    std::string option = error.path.substr(costs.size());
    std::replace(option.begin(), option.end(), '_', '-');
    throw UsageError("--{}: {}", option, error.what());
  } catch (const std::invalid_argument& error) {
    throw UsageError("plan load: {}", error.what());
  }
}

}  // namespace

PlanWay plan_load() {
  Verb verb{
      .name = "load",
      .sentence = "simulate a server under load: latencies by rate of requests, for policies of gamma",
      .line = "speclab plan load [ALPHA] COSTS [--rate R,R...] [--set serving.KEY=VALUE...] [options]",
      .about =
          R"(Simulates a server with continuous batching at several rates of requests. It compares no speculation, fixed gammas, a
table by batch, and policies of engines, and prints the recommended policy with its settings, latencies, the share of
requests that meet the SLOs (goals for TTFT and TPOT), and what limits the server. ALPHA is a rate, or the log of a server. All splits of
--devices N into equal replicas are tried, unless engine.replicas is set. The server is the section "serving" of a config:
prompt, output, length_variation, bursts, trace, ttft_ms, tpot_ms, percentile, engine.max_sequences, engine.replicas, policy,
acceptance.kind (set it, too, where acceptance.spread is set), requests, runs and more (docs/reference.md; speclab help KEY).)",
      .examples =
          R"(  speclab plan load 0.75 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4
  speclab plan load 0.75 --target llama-3.1-8b --draft llama-3.2-1b --device h100-sxm --rate 32 \
    --set serving.bursts=4 --set serving.tpot_ms=20
)",
      .positional = "alpha",
      .optional_positional = true};
  verb.section("Question");
  verb.add<std::string>("rate NUMBER,...",
                        "requests per second, one or several (default: ten rates up to 90% of capacity)");
  verb.add<std::string>("trace FILE", "recorded requests, played at the rates (docs/serving.md)");
  verb.add<std::string>("trace-unit UNIT",
                        "unit of the trace's times, s, ms, us or ns, if its header does not say");
  add_rate_option(verb);
  add_max_gamma_option(verb, 8);
  add_set_option(verb, "set a key of the server, e.g. serving.output=300 or serving.engine.replicas=2");
  verb.section("Costs");
  add_cost_options(verb.options);
  add_method_option(verb.options);
  verb.add_value("memory-share", number_or(0.9), "usable share of the device's memory");
  add_setting_options(verb);
  verb.section("Simulation");
  verb.add<std::int64_t>("seed", 1, "seed of all runs; runs with different seeds are independent");
  add_thread_option(verb);
  verb.add("quiet", "print no progress");
  add_answer_options(verb);
  return {verb, answer_load};
}

}  // namespace speclab
