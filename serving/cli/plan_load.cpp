#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "experiments/base/command/options.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/progress.hpp"
#include "experiments/config/config.hpp"
#include "serving/advisor/key_options.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"
#include "serving/study/load_plan.hpp"
#include "serving/study/load_policies.hpp"

namespace speclab {

namespace {

/// An option that is a key of the section "serving", or of an object or a kind in it.
struct KeyOption {
  std::string section;  ///< its section in the help
  std::string option;
  std::string parent;
  std::string kind;
  std::string key;
  const char* sentence = nullptr;  ///< replaces the key's sentence if plan load means something else

  std::string path() const { return fmt::format("/serving/{}{}{}", parent, parent.empty() ? "" : "/", key); }
};

const std::vector<KeyOption>& key_options() {
  static const std::vector<KeyOption> all = [] {
    std::vector<KeyOption> options{
        {"Requests", "prompt", "", "", "prompt"},
        {"Requests", "output", "", "", "output"},
        {"Requests", "length-variation", "", "", "length_variation"},
        {"Requests", "bursts", "", "", "bursts"},
        {"Requests", "burst-seconds", "", "", "burst_seconds"},
        {"Requests", "trace", "", "", "trace",
         "File of recorded requests, CSV or JSON lines; --rate changes their speed."},
        {"Question", "ttft-ms", "", "", "ttft_ms"},
        {"Question", "tpot-ms", "", "", "tpot_ms"},
        {"Question", "percentile", "", "", "percentile",
         "Percentile of latencies, and the share of requests that must meet the targets."},
        {"Requests", "alpha-spread", "acceptance", "rate", "spread"},
        {"Question", "draft-correlation", "policy", "adaptive", "correlation",
         "Correlation of the draft's confidences with acceptance; adds adaptive verification."},
        {"Engine", "replicas", "engine", "", "replicas"},
        {"Engine", "max-sequences", "engine", "", "max_sequences"},
        {"Engine", "step-tokens", "engine", "", "step_tokens"},
        {"Engine", "cache-tokens", "engine", "", "cache_tokens",
         "Tokens that the caches of an engine hold; 0: as many as the device's memory holds."},
        {"Engine", "draft-budget", "engine", "", "draft_budget"},
        {"Draft device", "draft-hit", "draft_device", "", "hit"},
        {"Draft device", "rank-shares", "draft_device", "", "rank_shares"},
        {"Draft device", "outcomes", "draft_device", "", "outcomes"},
        {"Draft device", "plain-after-miss", "draft_device", "", "plain_after_miss"},
        {"Simulation", "requests", "", "", "requests",
         "Requests measured in a run. By default, runs with bursts are lengthened to at least ten bursts."},
        {"Simulation", "runs", "", "", "runs"},
        {"Costs", "step-ms", "cost", "", "step_ms"}};
    for (const Field& field : pair_costs_type().type->object()->fields())
      options.push_back({"Costs", option_of_key(field.name), "cost", "", field.name});
    return options;
  }();
  return all;
}

/// Returns plan load's own defaults, which replace the section's.
Json base_section() { return {{"length_variation", 1}, {"requests", 1000}}; }

/// Returns a section by its key. Reads the list of sections, not the config's description: that is made once,
/// and options are declared before other programs have added sections.
const SectionKind& section_named(const std::string& key) {
  return *std::ranges::find(section_kinds(), key, &SectionKind::key);
}

/// Returns the field of an option's key, and its default.
std::pair<Field, Json> field_of(const KeyOption& option) {
  const auto find = [&](const ObjectType& object, const std::string& name) {
    const auto found = std::ranges::find(object.fields(), name, &Field::name);
    return found != object.fields().end() ? std::optional(std::pair(*found, object.fallback(*found)))
                                          : std::nullopt;
  };
  const ObjectType& section = *section_named("serving").type->object();
  if (option.parent.empty()) {
    auto found = find(section, option.key).value();
    found.second = base_section().value(option.key, found.second);
    return found;
  }
  const TypePtr parent = find(section, option.parent).value().first.type;
  if (parent->object() != nullptr) return find(*parent->object(), option.key).value();
  for (const KindInfo* kind : parent->family()->kinds()) {
    if (auto found = find(*kind->parameters->object(), option.key)) return *found;
  }
  throw std::logic_error("no key " + option.path());
}

std::vector<double> rates_of(const Values& values) {
  if (!values.has("rate")) return {};
  const std::string& text = values.text("rate");
  constexpr std::size_t most = 100;
  const std::vector<double> rates =
      number_list("--rate", text, "requests per second from 1e-6 to 1e9, such as 4 or 1,2,4,8", most,
                  [](double rate) { return rate >= 1e-6 && rate <= 1e9; });
  if (std::adjacent_find(rates.begin(), rates.end(), std::greater_equal<>()) != rates.end())
    throw UsageError("--rate {}: expected increasing rates", text);
  return rates;
}

/// Returns the section from the options, without defaults.
Json given_section(const Values& values) {
  Json section = Json::object();
  for (const KeyOption& one : key_options()) {
    const auto& value = values[one.option];
    if (value.empty() || value.defaulted()) continue;
    const auto* const text = boost::any_cast<std::string>(&value.value());
    Json& object = one.parent.empty() ? section : section[one.parent];
    if (!one.kind.empty()) object["kind"] = one.kind;
    object[one.key] = json_of_option(*field_of(one).first.type, text == nullptr ? "" : *text);
  }
  if (values.has("skip-idle-draft")) section["cost"]["idle_draft"] = false;
  return section;
}

/// Returns the config of one server: the options, then the changes by --set, then plan load's defaults.
/// `section` becomes the section without defaults.
Config config_of(const Values& values, Json& section) {
  Json document{
      {"title", "a server under load"}, {"experiment", "serving"}, {"serving", given_section(values)}};
  if (values.has("alpha")) document["alpha"] = alpha_of_rate(values, rate_option(values), "alpha");
  document["seed"] = json_of_option(*type_at("/seed"), values.text("seed"));
  document["confidence"] = confidence_option(values);
  for (const std::string& assignment : values.texts("set")) apply_assignment(document, assignment);
  section = document["serving"];
  if (!section.is_object()) return read_config(document);  // throws the error
  const bool trace = section.contains("trace");
  for (const char* other : {"prompt", "output"}) {
    if (trace && section.contains(other))
      throw ConfigError(fmt::format("/serving/{}", other), "a trace has its own: leave it out");
  }
  Json& whole = document["serving"];
  const Json base = base_section();
  for (const auto& [key, value] : base.items()) {
    if (!whole.contains(key) && !(trace && key == "length_variation")) whole[key] = value;
  }
  Json& cost = whole["cost"];
  if (cost.is_null() || (cost.is_object() && !cost.contains("kind")))
    cost["kind"] = cost.contains("target_times") ? "times" : "models";
  return read_config(document);
}

LoadQuestion question_of(const Values& values) {
  Json given;
  const Config config = config_of(values, given);
  LoadQuestion question =
      load_question(config, static_cast<int>(checked_count(values, "max-gamma", 1, longest_draft)));
  question.memory_share = checked_number(values, "memory-share", 0.01, 1);
  if (values.has("rate")) question.rates = rates_of(values);
  if (question.rates.empty() && question.server.trace) question.rates = {*mean_rate(load_stream(question))};
  question.usual_size = !given.contains("requests");
  ServingSection& server = question.server;
  if (!given.contains("settle")) server.settle = server.requests / 5;
  if (!given.contains("settle_after")) server.settle_after = server.requests / 10;
  return question;
}

/// Runs `work`; reports an error about a key as one about the option that gives it.
template <class Work>
auto by_option(const Values& values, const Work& work) {
  try {
    return work();
  } catch (const ConfigError& error) {
    for (const KeyOption& one : key_options()) {
      if (values.has("set") || !error.file.empty()) break;
      if (!(error.path + "/").starts_with(one.path() + "/")) continue;
      throw UsageError("--{}: {}", one.option, error.what());
    }
    throw;
  } catch (const std::invalid_argument& error) {
    throw UsageError("plan load: {}", error.what());
  }
}

std::optional<PlanAnswer> answer_load(const Values& values, const Control& control) {
  const LoadQuestion question = by_option(values, [&] { return question_of(values); });
  const ThreadLimit limit(thread_option(values));
  Progress progress("simulated requests", load_work(question), values.has("quiet"));
  const Control watched{.stop = control.stop,
                        .progress = [&](std::uint64_t requests) { progress.advance(requests); }};
  auto plan = by_option(values, [&] { return plan_load(question, watched); });
  if (!plan) return std::nullopt;
  if (values.has("alpha")) plan->acceptance += "; " + rate_note(values, rate_option(values));
  PlanAnswer answer = answer_of(*plan, load_text, load_headline, load_figures);
  if (question.server.trace) answer.input = *question.server.trace;
  return answer;
}

}  // namespace

PlanWay plan_load() {
  Verb verb{
      .name = "load",
      .sentence = "simulate a server under load: latencies by rate of requests, for policies of gamma",
      .line = "speclab plan load [ALPHA] COSTS [--rate R,R...] [options]",
      .about =
          R"(Simulates a server with continuous batching at several rates of requests. It compares no speculation, fixed gammas, a
table by batch, and policies of engines, and prints latencies, the share of requests that meet the targets, and the rate
above which speculation should be switched off. The server is the section "serving" of a config: these options and --set
give its keys. Costs come from the roofline or from measured times.)",
      .examples =
          R"(  speclab plan load 0.75 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4
  speclab plan load 0.75 --target llama-3.1-8b --draft llama-3.2-1b --device h100-sxm --rate 32 --bursts 4 --tpot-ms 20
)",
      .positional = "alpha",
      .optional_positional = true};
  const auto add_keys = [&](const std::string& section) {
    if (verb.sections.empty() || verb.sections.back().second != section) verb.section(section.c_str());
    for (const KeyOption& one : key_options()) {
      if (one.section != section) continue;
      auto [field, usual] = field_of(one);
      if (one.sentence != nullptr) field.sentence = one.sentence;
      add_key_option(verb.options, one.option, field, usual);
    }
  };
  verb.section("Question");
  verb.add<std::string>("rate NUMBER,...",
                        "requests per second, one or several (default: ten rates up to 90% of capacity)");
  add_rate_option(verb);
  add_max_gamma_option(verb, 8);
  add_keys("Question");
  add_keys("Requests");
  add_keys("Engine");
  verb.add_value("memory-share", number_or(0.9), "usable share of the device's memory");
  add_keys("Draft device");
  add_keys("Costs");
  verb.add("skip-idle-draft", "the draft does not run if a policy's gamma is 0");
  add_keys("Simulation");
  verb.add<std::string>("seed INTEGER", "1", "seed of all runs; runs with different seeds are independent");
  add_set_option(verb, "set any other key, e.g. serving.engine.wake_ms=2");
  add_thread_option(verb);
  verb.add("quiet", "print no progress");
  add_answer_options(verb);
  return {verb, answer_load};
}

}  // namespace speclab
