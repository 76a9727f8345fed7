// The section "serving" of a config: its keys, ranges and sentences.
#include "experiments/base/format/fields.hpp"
#include "experiments/config/shown_config.hpp"
#include "serving/study/serving_study.hpp"

namespace speclab {

namespace {

const Typed<ClassSection>& class_type() {
  using C = ClassSection;
  static const auto type = object<C>(
      "serving class", "Requests of one kind.",
      {required(field("share", &C::share, number(0, 1), "Of all requests; shares add up to 1.")),
       required(field(
           "positions", &C::positions, list(number(0, 1), 1, longest_draft),
           "Acceptance rate of each position, given that those before are accepted; the last goes on."))});
  return type;
}

const Typed<AcceptanceSection>& acceptance_type() {
  using A = AcceptanceSection;
  static const auto type = object<A>(
      "serving acceptance",
      "What is known of acceptance: one of rate, positions, rounds, classes, mean, easy and recorded; else \"alpha\" of the config.",
      {field("rate", &A::rate, number(0, 1), "Acceptance rate of every token."),
       field("spread", &A::spread, number(0, 0.5),
             "Standard deviation of the rate between requests, which is beta distributed."),
       field("positions", &A::positions, list(number(0, 1), 1, longest_draft),
             "Acceptance rate of each position, given that those before are accepted."),
       field("rounds", &A::rounds, list(count<std::uint64_t>(), 1, longest_draft + 1),
             "Counts of rounds by accepted tokens, 0 first."),
       field("classes", &A::classes, list(class_type(), 1, 100), "Requests of several kinds."),
       field("mean", &A::mean, number(0, longest_draft),
             "Accepted tokens a round with \"gamma\" drafted ones, by \"law\"."),
       field("law", &A::law,
             choice<MeanLaw>({{"constant_rate", MeanLaw::constant_rate},
                              {"least_variance", MeanLaw::least_variance},
                              {"all_or_none", MeanLaw::all_or_none}}),
             "Of \"mean\": one rate a token, two neighbouring numbers, or all of gamma or none."),
       field("easy", &A::easy, number(0, 1), "Acceptance rate in easy stretches of a text."),
       field("hard", &A::hard, number(0, 1), "The same in hard stretches."),
       field("easy_tokens", &A::easy_tokens, number(1, 1e9), "Mean length of an easy stretch."),
       field("hard_tokens", &A::hard_tokens, number(1, 1e9), "Mean length of a hard stretch."),
       field(
           "recorded", &A::recorded, input_file(),
           "A file of recorded rounds, a JSON object a line: {\"accepted\": 2, \"confidences\": [0.9, 0.8, 0.3]}, with a \"weight\" or without one.")});
  return type;
}

const Typed<TokenPoint>& token_point_type() {
  using P = TokenPoint;
  static const auto type = object<P>(
      "serving token point", "How long a step of so many tokens takes.",
      {required(field("tokens", &P::tokens, number(0, 1e9), "Verified positions and tokens of prompts.")),
       required(field("ms", &P::ms, number(0, 1e9), "Milliseconds."))});
  return type;
}

const Typed<LinearStep>& cost_type() {
  using C = LinearStep;
  const auto ms = number(0, 1e9);
  static const auto type = object<C>(
      "serving cost", "Milliseconds of a step, which add up.",
      {field("step", &C::step, ms, "Of a step."),
       field("sequence", &C::sequence, ms, "Of each decoding sequence."),
       field("position", &C::position, ms, "Of each verified position: gamma + 1 of each decoding sequence."),
       field("prompt_token", &C::prompt_token, ms, "Of each token of a prompt."),
       field("context_token", &C::context_token, ms, "Of each token of a cache that is read."),
       field(
           "by_tokens", &C::by_tokens, list(token_point_type(), 0, 4096),
           "Of a step by its tokens, in increasing order; lines between the points, and beyond the last as between the last two."),
       field("mixed", &C::mixed, ms,
             "Of a step that decodes and reads prompts, besides both: engines run such steps another way."),
       field("speculation", &C::speculation, ms, "Of a step that drafts."),
       field("idle_draft", &C::idle_draft, ms, "Of a step that could draft and does not."),
       field("draft_run", &C::draft_run, ms, "Of each of gamma draft runs."),
       field("draft_sequence", &C::draft_sequence, ms, "Of each draft run, for each decoding sequence."),
       field(
           "draft_context_token", &C::draft_context_token, ms,
           "Of each draft run, for each token of a cache that it reads; \"engine\": {\"draft_budget\": n} bounds these.")});
  return type;
}

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
       integer_field<E>(
           "draft_budget", &E::draft_budget, 0, 1e9,
           "Most tokens of a sequence's cache that a draft run reads (sparse KV, as in MagicDec); 0: all."),
       field("stale_loss", &E::stale_loss, number(0, 1),
             "Share of the rate that is lost when the draft has missed \"stale_window\" tokens."),
       integer_field("stale_window", &E::stale_window, 1, 1e6,
                     "Tokens without a draft until the whole loss, and with one until none is left.")});
  return type;
}

const Typed<GammaTable::Row>& table_row_type() {
  using R = GammaTable::Row;
  static const auto type = object<R>(
      "serving table row", "A gamma for batches and contexts.",
      {required(integer_field("batch", &R::batch, 1, 65536, "Up to so many sequences.")),
       field("context", &R::context, number(0, 1e9), "Up to so many tokens a sequence on average; 0: any."),
       required(integer_field("gamma", &R::gamma, 0, longest_draft, "Drafted tokens."))});
  return type;
}

const Typed<VerificationSection>& verification_type() {
  using V = VerificationSection;
  static const auto type = object<V>(
      "serving verification",
      "Adaptive verification (vLLM): which drafted tokens are verified, by what the draft says of them.",
      {field("correlation", &V::correlation, number(0, 1),
             "Of a confidence with the acceptance of its token, given that those before it are accepted."),
       field("auc", &V::auc, number(0.5, 1),
             "Instead: how often a confidence of an accepted first token is above that of a rejected one."),
       field(
           "waits", &V::waits, boolean(),
           "The budget is sized by the confidences of this step, for which the host waits; else by those a step old."),
       field("step_ms", &V::step_ms, number(0, 1e9),
             "Milliseconds of every decoding step, for ranking and waiting.")});
  return type;
}

const Typed<DraftDeviceSection>& draft_device_type() {
  using D = DraftDeviceSection;
  static const auto type = object<D>(
      "serving draft device",
      "Drafts on a device of their own, made for likely outcomes of a round while the target verifies it (SSD; Kumar, Dao and May 2026).",
      {field("hit", &D::hit, number(0, 1), "Probability that the outcome is among those drafted for."),
       field(
           "rank_shares", &D::rank_shares, list(number(0, 1), 1, 64),
           "Instead: how often the token after the accepted ones is the draft's first, second, ... choice; outcomes are then the likeliest pairs of accepted tokens and choice."),
       integer_field("outcomes", &D::outcomes, 1, 4096,
                     "Outcomes drafted for, of each sequence: sequences of a draft run."),
       field(
           "plain_after_miss", &D::plain_after_miss, boolean(),
           "After another outcome a sequence is decoded without drafts; else all wait until it has some.")});
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
                 "The rate in bursts over the rate between them; bursts take a fifth of the time."),
           field("burst_seconds", &S::burst_seconds, number(1e-3, 1e6), "Mean duration of a burst."),
           field("prompt", &S::prompt, number(1, 1e7), "Mean tokens of a prompt."),
           field("output", &S::output, number(1, 1e7), "Mean tokens of an output."),
           field("length_variation", &S::length_variation, number(0, 10),
                 "Standard deviation of both over their means, log-normal; 0: all alike."),
           field("geometric_output", &S::geometric_output, boolean(),
                 "Outputs of geometric length, without memory, instead."),
           field("acceptance", &S::acceptance, acceptance_type(), "Acceptance of drafted tokens."),
           field(
               "policy", &S::policy,
               choice<StepPolicyName>({{"fixed", StepPolicyName::fixed},
                                       {"table", StepPolicyName::table},
                                       {"sglang", StepPolicyName::sglang},
                                       {"gate", StepPolicyName::gate},
                                       {"goodput", StepPolicyName::goodput},
                                       {"adaptive", StepPolicyName::adaptive},
                                       {"optimal", StepPolicyName::optimal},
                                       {"clairvoyant", StepPolicyName::clairvoyant}}),
               "How many tokens a step drafts: \"gamma\"; by \"table\"; SGLang's default slots; \"gamma\" until few are accepted, never again then; up to \"gamma\" by expected tokens a millisecond; \"gamma\", of which some are verified by confidence; of the least mean latency, where that can be solved; or by what will be accepted, which no engine knows."),
           integer_field("gate_window", &S::gate_window, 1, 1e6, "Steps over which the gate takes its mean."),
           field("gate_threshold", &S::gate_threshold, number(0, longest_draft),
                 "Accepted tokens a round below which the gate shuts."),
           field("table", &S::table, list(table_row_type(), 0, 4096),
                 "Of the policy \"table\": the first row that holds batch and context decides; none: 0."),
           field("verification", &S::verification, verification_type(), "Of the policy \"adaptive\"."),
           field("cost", &S::cost, cost_type(), "How long a step takes."),
           field("models", &S::models, serving_models_type(),
                 "Instead of \"cost\": how long a step takes by the roofline of two models on a device."),
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
