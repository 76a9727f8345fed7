// The section "serving" of a config: its keys, ranges and sentences.
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
                     "Engines; a request goes to the one of the fewest requests."),
       field("front_ms", &E::front_ms, number(0, 1e9),
             "Milliseconds from a request's arrival to its place in a queue: network, tokenisation."),
       integer_field<E>("max_sequences", &E::max_sequences, 1, 65536,
                        "Requests that run at a time in an engine."),
       integer_field<E>("step_tokens", &E::step_tokens, 64, 1e9,
                        "Most tokens of a step; prompts are read in chunks."),
       integer_field("cache_tokens", &E::cache_tokens, 0, 1e15,
                     "Tokens of caches in an engine; 0: without bound."),
       field<E>("replays", &E::replays, boolean(),
                "Accepted tokens of a partly rejected draft run again, as in models with a state."),
       field<E>("switch_ms", &E::switch_ms, number(0, 1e9),
                "Milliseconds of a step whose gamma is another than before."),
       field<E>(
           "wake_ms", &E::wake_ms, number(0, 1e9),
           "Milliseconds more of a step before which the engine was idle: caches and processors that are cold."),
       integer_field<E>("draft_budget", &E::draft_budget, 0, 1e9,
                        "Most tokens of a cache that a draft run reads (sparse KV); 0: all."),
       field("stale_loss", &E::stale_loss, number(0, 1),
             "Share of the rate that is lost when the draft has missed \"stale_window\" tokens."),
       integer_field("stale_window", &E::stale_window, 1, 1e6,
                     "Tokens without a draft until the whole loss, and with one until none is left.")});
  return type;
}

const Typed<DraftDeviceSection>& draft_device_type() {
  using D = DraftDeviceSection;
  static const auto type = object<D>(
      "serving draft device",
      "Drafts on a device of their own, made for likely outcomes of a round while the target verifies it (SSD; Kumar, Dao and May 2026).",
      {field("hit", &D::hit, number(0, 1), "Probability that the outcome is among those drafted for."),
       field("rank_shares", &D::rank_shares, list(number(0, 1), 1, 64),
             "Instead: how often the next token is the draft's 1st, 2nd, ... choice."),
       integer_field("outcomes", &D::outcomes, 1, 4096,
                     "Outcomes drafted for, of each sequence; with rank_shares the likeliest."),
       field("plain_after_miss", &D::plain_after_miss, boolean(),
             "After another outcome a sequence is decoded plain; else all wait.")});
  return type;
}

}  // namespace

SectionKind serving_section() {
  using S = ServingSection;
  return {
      "serving",
      object<S>(
          "serving", "The server of the experiment serving, and what asks it.",
          {field("requests_per_second", &S::requests_per_second, number(1e-6, 1e9),
                 "Poisson arrivals, or the rate at which a trace is played."),
           integer_field("clients", &S::clients, 1, 1e6,
                         "Instead: clients that each wait for an answer before they ask again."),
           field(
               "trace", &S::trace, input_file(),
               "Instead: a file of recorded requests, in one of the forms of plan load --trace. Every run plays the same requests."),
           field("bursts", &S::bursts, number(1, 1000),
                 "Rate in bursts over the rate between; bursts take a fifth of the time."),
           field("burst_seconds", &S::burst_seconds, number(1e-3, 1e6), "Mean duration of a burst."),
           field("prompt", &S::prompt, number(1, 1e7), "Mean tokens of a prompt."),
           field("output", &S::output, number(1, 1e7), "Mean tokens of an output."),
           field("length_variation", &S::length_variation, number(0, 10),
                 "Standard deviation of both over their means, log-normal; 0: all alike."),
           field("geometric_output", &S::geometric_output, boolean(),
                 "Outputs of geometric length, without memory, instead."),
           field("acceptance", &S::acceptance, kind_of(acceptance_family()), "Acceptance of drafted tokens."),
           field("policy", &S::policy, kind_of(step_policy_family()), "How many tokens a step drafts."),
           field("cost", &S::cost, kind_of(step_cost_family()), "How long a step takes."),
           field("engine", &S::engine, engine_type(), "The engines."),
           field("draft_device", &S::draft_device, draft_device_type(),
                 "A device that drafts while the target verifies; without it drafts take the target's time."),
           integer_field("requests", &S::requests, 1, 1e9, "Requests measured in a run."),
           integer_field("settle", &S::settle, 0, 1e9,
                         "Requests before and after these, which are not measured."),
           integer_field("settle_after", &S::settle_after, 0, 1e9,
                         "Requests after these, where they are not as many as before."),
           integer_field("runs", &S::runs, 2, 100000, "Independent runs; intervals are over them."),
           field("percentile", &S::percentile, number(1, 99.999), "Of latencies."),
           field("ttft_ms", &S::ttft_ms, number(0, 1e12), "Target of the time to the first token."),
           field("tpot_ms", &S::tpot_ms, number(0, 1e12), "Target of the mean time a token after it."),
           field(
               "measured", &S::measured, map(number(-1e12, 1e12)),
               "What was measured of such a server, by the names of the result: \"TTFT p95\"; stands beside what is simulated.")})
          .type};
}

}  // namespace speclab
