// The section "serving" of a config: its keys, their ranges and descriptions.
#include "experiments/base/format/fields.hpp"
#include "experiments/config/shown_config.hpp"
#include "serving/study/serving_study.hpp"

namespace speclab {

namespace {

const Typed<EngineSection>& engine_type() {
  using E = EngineSection;
  static const auto type = object<E>(
      "serving engine", "The engines.",
      {integer_field("replicas", &E::replicas, 1, 1024,
                     "Number of engines; a request goes to the engine with the fewest requests."),
       field("front_ms", &E::front_ms, number(0, 1e9),
             "Milliseconds from a request's arrival to its place in a queue: network, tokenisation."),
       integer_field<E>("max_sequences", &E::max_sequences, 1, 65536,
                        "Requests that an engine runs at the same time."),
       integer_field<E>("step_tokens", &E::step_tokens, 64, 1e9,
                        "Largest number of tokens in a step; prompts are read in chunks."),
       integer_field("cache_tokens", &E::cache_tokens, 0, 1e15,
                     "Tokens that the caches of an engine hold; 0: no limit."),
       field<E>(
           "wake_ms", &E::wake_ms, number(0, 1e9),
           "Additional milliseconds of a step after the engine was idle, because caches and processors are cold."),
       integer_field<E>("draft_budget", &E::draft_budget, 0, 1e9,
                        "Largest number of cached tokens that a draft run reads (sparse KV); 0: all.")});
  return type;
}

}  // namespace

SectionKind serving_section() {
  using S = ServingSection;
  return {
      "serving",
      object<S>(
          "serving", "The server of the experiment serving, and its requests.",
          {field("requests_per_second", &S::requests_per_second, number(1e-6, 1e9),
                 "Rate of Poisson arrivals, or the rate at which a trace is played."),
           integer_field(
               "clients", &S::clients, 1, 1e6,
               "Number of clients, instead of a rate; each waits for an answer before its next request."),
           field(
               "trace", &S::trace, input_file(),
               "A file of recorded requests, instead of a rate: CSV whose header names time, prompt and output (Azure, BurstGPT, Splitwise), or seconds,prompt,output; JSON lines (Mooncake, Alibaba), or the result of vllm bench serve --save-detailed. Every run plays the same requests."),
           field("trace_unit", &S::trace_unit,
                 choice<TimeUnit>(
                     {{"s", TimeUnit::s}, {"ms", TimeUnit::ms}, {"us", TimeUnit::us}, {"ns", TimeUnit::ns}}),
                 "Unit of the trace's times, if its header does not say: s, ms, us or ns."),
           field("bursts", &S::bursts, number(1, 1000),
                 "Rate in bursts over the rate between them; bursts take a fifth of the time."),
           field("burst_seconds", &S::burst_seconds, number(1e-3, 1e6), "Mean duration of a burst."),
           field("prompt", &S::prompt, number(1, 1e7), "Mean tokens of a prompt."),
           field("output", &S::output, number(1, 1e7), "Mean tokens of an output."),
           field(
               "length_variation", &S::length_variation, number(0, 10),
               "Standard deviation of prompt and output lengths over their means (log-normal); 0: all equal."),
           field("geometric_output", &S::geometric_output, boolean(),
                 "Draws output lengths from a geometric distribution instead of a log-normal one."),
           field("acceptance", &S::acceptance, kind_of(acceptance_family()), "Acceptance of drafted tokens."),
           field("policy", &S::policy, kind_of(step_policy_family()),
                 "Policy that chooses the drafted tokens of a step."),
           field("cost", &S::cost, kind_of(step_cost_family()), "Time of a step."),
           field("engine", &S::engine, engine_type(), "The engines."),
           integer_field("requests", &S::requests, 1, 1e9, "Requests measured in a run."),
           integer_field("settle", &S::settle, 0, 1e9,
                         "Requests before and after the measured ones; they are not measured."),
           integer_field("settle_after", &S::settle_after, 0, 1e9,
                         "Requests after the measured ones, if their number differs from \"settle\"."),
           integer_field("runs", &S::runs, 2, 100000, "Independent runs; intervals are across runs."),
           field("percentile", &S::percentile, number(1, 99.999), "Percentile of latencies."),
           field("ttft_ms", &S::ttft_ms, number(0, 1e12), "SLO: the most milliseconds to the first token."),
           field("tpot_ms", &S::tpot_ms, number(0, 1e12),
                 "SLO: the most milliseconds per token after the first, a request's mean."),
           field(
               "measured", &S::measured, map(number(-1e12, 1e12)),
               "Numbers measured on such a server, by the names of the result (\"TTFT p95\"), to print beside the simulated ones.")})
          .type};
}

}  // namespace speclab
