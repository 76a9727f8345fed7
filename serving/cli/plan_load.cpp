#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>

#include "experiments/base/command/options.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/progress.hpp"
#include "serving/advisor/load_plan.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"
#include "serving/traces/arrival_trace.hpp"

namespace speclab {

namespace {

namespace po = boost::program_options;

std::uint32_t whole(const Values& values, const char* name, double least, double most) {
  return static_cast<std::uint32_t>(checked_count(values, name, least, most));
}

Length length_of(const Values& values, const char* name, double variation) {
  const double mean = checked_number(values, name, 1, 1e6);
  if (variation == 0 && mean != std::floor(mean))
    throw UsageError("--{} {}: a fixed length is an integer", name, mean);
  return varied_length(mean, variation);
}

std::vector<double> rates_of(const Values& values) {
  if (!values.has("rate")) return {};
  const std::string& text = values.text("rate");
  constexpr std::size_t most = 100;
  const std::vector<double> rates =
      number_list("--rate", text, "requests a second from 1e-6 to 1e6, such as 4 or 1,2,4,8", most,
                  [](double rate) { return rate >= 1e-6 && rate <= 1e6; });
  if (std::adjacent_find(rates.begin(), rates.end(), std::greater_equal<>()) != rates.end())
    throw UsageError("--rate {}: expected increasing rates", text);
  return rates;
}

/// None without --draft-hit and --rank-shares.
std::optional<LoadDraftDevice> draft_device_of(const Values& values) {
  const bool hit = values.has("draft-hit");
  const bool ranks = values.has("rank-shares");
  if (hit && ranks) throw UsageError("give one of --draft-hit and --rank-shares");
  if (!hit && !ranks) {
    for (const char* other : {"outcomes", "plain-after-miss"}) {
      if (values.has(other) && !values[other].defaulted())
        throw UsageError("--{}: of a draft device, which --draft-hit or --rank-shares describes", other);
    }
    return std::nullopt;
  }
  LoadDraftDevice device{.outcomes = whole(values, "outcomes", 1, 4096),
                         .plain_after_miss = values.has("plain-after-miss")};
  if (hit) device.hit = checked_number(values, "draft-hit", 0, 1);
  if (ranks) device.rank_shares = rank_shares_of(values.text("rank-shares"), "--rank-shares");
  return device;
}

LoadQuestion question_of(const Values& values) {
  constexpr double context = 1024;
  const PlanSettings settings = plan_settings(values);
  LoadQuestion question{costs_of(values, "", {1, context}),
                        alpha_of_rate(values, rate_option(values), "alpha")};
  if (std::holds_alternative<ConstantCost>(question.costs.target)) {
    throw UsageError(
        "plan load: latencies need times in milliseconds: give --device with --target, or --target-times");
  }
  question.memory_share = settings.memory_share;
  question.confidence = settings.confidence;
  question.alpha_spread = spread_option(values, {question.alpha});
  if (values.has("draft-correlation"))
    question.draft_correlation = checked_number(values, "draft-correlation", 0, 1);
  if (values.has("trace")) {
    for (const char* other : {"prompt", "output", "length-variation", "bursts"}) {
      if (!values[other].defaulted()) throw UsageError("--{} and --trace: a trace has its own", other);
    }
    question.stream.trace = std::make_shared<const Trace>(read_trace(values.text("trace")));
  } else {
    const double variation = checked_number(values, "length-variation", 0, 3);
    question.stream.prompt = length_of(values, "prompt", variation);
    question.stream.output = length_of(values, "output", variation);
    question.burst_factor = checked_number(values, "bursts", 1, 1000);
    question.burst_seconds = checked_number(values, "burst-seconds", 1e-3, 1e5);
  }
  question.rates = rates_of(values);
  if (question.rates.empty() && question.stream.trace) question.rates = {trace_rate(*question.stream.trace)};
  if (values.has("ttft-ms")) question.targets.ttft_ms = checked_number(values, "ttft-ms", 1e-6, 1e9);
  if (values.has("tpot-ms")) question.targets.tpot_ms = checked_number(values, "tpot-ms", 1e-6, 1e9);
  question.percentile = checked_number(values, "percentile", 1, 99.99);
  question.replicas = whole(values, "replicas", 1, 256);
  question.max_sequences = whole(values, "max-sequences", 1, 4096);
  question.step_tokens = whole(values, "step-tokens", 64, 1e6);
  if (values.has("cache-tokens")) question.cache_tokens = checked_count(values, "cache-tokens", 64, 1e12);
  question.max_gamma = static_cast<int>(whole(values, "max-gamma", 1, longest_draft));
  if (question.most_drafted) question.max_gamma = std::min(question.max_gamma, *question.most_drafted);
  if (values.has("requests")) question.requests = checked_count(values, "requests", 10, 1e7);
  question.runs = static_cast<int>(whole(values, "runs", 2, 1000));
  question.seed = checked_count(values, "seed", 0, 9e15);
  question.extras.step_ms = checked_number(values, "step-ms", 0, 1e6);
  question.extras.draft_follows = !values.has("skip-idle-draft");
  question.draft_budget = whole(values, "draft-budget", 0, 1e9);
  question.draft_device = draft_device_of(values);
  if (question.draft_device && question.draft_correlation)
    throw UsageError("--draft-correlation: adaptive verification is not simulated with a draft device");
  const bool own_states =
      question.method == DraftMethod::mtp || draft_runs(question.method) == DraftRuns::a_round;
  if (question.draft_device && own_states) {
    throw UsageError(
        "--draft-hit and --rank-shares: {} drafts from the target's states, which a device that drafts before the round has ended does not have",
        word_of(question.method));
  }
  return question;
}

std::optional<PlanAnswer> answer_load(const Values& values, const Control& control) {
  const LoadQuestion question = question_of(values);
  const ThreadLimit limit(thread_option(values));
  Progress progress("simulated requests", load_work(question), values.has("quiet"));
  const Control watched{.stop = control.stop,
                        .progress = [&](std::uint64_t requests) { progress.advance(requests); }};
  try {
    auto plan = plan_load(question, watched);
    if (!plan) return std::nullopt;
    plan->acceptance += "; " + rate_note(values, rate_option(values));
    PlanAnswer answer = answer_of(*plan, load_text, load_headline, load_figures);
    if (values.has("trace")) answer.input = values.text("trace");
    return answer;
  } catch (const std::invalid_argument& error) {
    throw UsageError("plan load: {}", error.what());
  }
}

}  // namespace

PlanWay plan_load() {
  Verb verb{
      .name = "load",
      .sentence = "under load: latencies at rates of requests, for policies of gamma",
      .line = "speclab plan load ALPHA COSTS [--rate R,R...] [options]",
      .about =
          R"(Simulates a server with continuous batching at rates of requests, for plain decoding, fixed gammas, a table by batch
and policies of engines: latencies, targets kept, the rate to switch it off at. Costs: the roofline, or measured times.)",
      .examples =
          R"(  speclab plan load 0.75 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4
  speclab plan load 0.75 --target llama-3.1-8b --draft llama-3.2-1b --device h100-sxm --rate 32 --bursts 4 --tpot-ms 20
)",
      .positional = "alpha"};
  auto add = verb.options.add_options();
  add("rate", po::value<std::string>(),
      "requests a second, one or several (default: ten up to 90% of capacity)");
  add("prompt", number_or(512), "tokens of a prompt, mean");
  add("output", number_or(256), "tokens of an output, mean");
  add("length-variation", number_or(1),
      "standard deviation of both over their means, log-normal; 0: all alike");
  add("bursts", number_or(1), "rate in bursts over the rate between; bursts take a fifth of the time");
  add("burst-seconds", number_or(10), "mean duration of a burst");
  add("trace", po::value<std::string>(), "requests as recorded: CSV or JSON lines; --rate speeds them up");
  add("ttft-ms", po::value<double>(), "target of the time to the first token");
  add("tpot-ms", po::value<double>(), "target of the mean time a token after it");
  add("percentile", number_or(95), "of latencies, and the share that shall keep targets");
  add_rate_option(verb);
  add("alpha-spread", number_or(0), "standard deviation of alpha between requests");
  add("draft-correlation", po::value<double>(),
      "of the draft's confidences with acceptance: adds adaptive verification");
  add("replicas", number_or(1), "engines; a request goes to the one of the fewest");
  add("max-sequences", number_or(256), "requests that run at a time in a replica");
  add("step-tokens", number_or(8192), "most tokens of a step, prompts in chunks");
  add("cache-tokens", po::value<double>(),
      "tokens of caches in a replica (default: what the device's memory holds)");
  add("step-ms", number_or(0), "scheduler and host, of every step (assumed)");
  add("skip-idle-draft", "the draft does not run where a policy's gamma is 0");
  add("draft-budget", number_or(0), "most tokens of a cache that a draft run reads (sparse KV); 0: all");
  add("draft-hit", po::value<double>(), "a draft device: how often it has drafted for the right outcome");
  add("rank-shares", po::value<std::string>(),
      "instead: how often the next token is the draft's 1st, 2nd, ... choice");
  add("outcomes", number_or(1), "outcomes that a draft device drafts for, of each sequence");
  add("plain-after-miss", "after another outcome a sequence is decoded plain; else all wait");
  add("memory-share", number_or(0.9), "of the device's memory, usable");
  add("method", po::value<std::string>(),
      "for the settings: draft, ngram, eagle, eagle3, mtp, medusa or dflash");
  add("requests", po::value<double>(), "measured in a run (default: 1000; with bursts ten turns at least)");
  add("runs", number_or(8), "independent ones; intervals are over them");
  add("seed", number_or(1), "of all runs; those of another seed are independent of them");
  add("quiet", "no progress");
  add_max_gamma_option(verb, 8);
  add_thread_option(verb);
  add_cost_options(verb.options);
  add_answer_options(verb);
  return {verb, answer_load};
}

}  // namespace speclab
