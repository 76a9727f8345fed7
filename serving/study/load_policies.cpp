#include "serving/study/load_policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/cost/device_speed.hpp"
#include "analysis/cost/speedup_curve.hpp"

namespace speclab {

namespace {

double mean_of(const Length& length) {
  if (const auto* fixed = std::get_if<FixedLength>(&length)) return fixed->tokens;
  if (const auto* geometric = std::get_if<GeometricLength>(&length)) return geometric->mean;
  return std::get<LogNormalLength>(length).mean;
}

Selected<StepPolicyKind> policy_named(const char* name) { return kind_named(step_policy_family(), name); }

Selected<StepPolicyKind> table_of(const std::vector<BatchRange>& ranges) {
  Json rows = Json::array();
  for (const BatchRange& range : ranges) rows.push_back({{"batch", range.last}, {"gamma", range.gamma}});
  return read(kind_of(step_policy_family()), {{"kind", "table"}, {"rows", std::move(rows)}},
              "/serving/policy");
}

/// Returns the tokens per round for gamma = 0, 1, ...
std::vector<double> tokens_of(const LoadQuestion& question) {
  const AcceptanceLaw law = law_of(question);
  const auto* const rounds = std::get_if<RoundLaw>(&law);
  if (rounds != nullptr && question.server.acceptance.name() == "rate")
    return iid_tokens(rounds->survival.front(), question.max_gamma);
  std::vector<double> tokens;
  for (int gamma = 0; gamma <= question.max_gamma; ++gamma)
    tokens.push_back(1 + mean_accepted(law, static_cast<std::uint32_t>(gamma)));
  return tokens;
}

std::uint32_t longest_slots() {
  const Selected<StepPolicyKind> slots = policy_named("sglang");
  return slots.entry().max_drafted(slots);
}

/// Returns whether acceptance is known for the longest draft of SGLang's slots.
bool knows_slots(const LoadQuestion& question) {
  const auto& acceptance = question.server.acceptance;
  return !acceptance.entry().positions || acceptance.entry().positions(acceptance) >= longest_slots();
}

}  // namespace

AcceptanceLaw law_of(const LoadQuestion& question) {
  auto longest = static_cast<std::uint32_t>(question.max_gamma);
  if (knows_slots(question)) longest = std::max(longest, longest_slots());
  const StepPolicyKind& own = question.server.policy.entry();
  if (own.max_drafted) longest = std::max(longest, own.max_drafted(question.server.policy));
  return acceptance_of(question.server,
                       {question.alpha, static_cast<std::uint32_t>(question.max_gamma), longest});
}

double mean_context(const RequestStream& stream) {
  if (stream.trace) {
    double sum = 0;
    for (const Request& request : *stream.trace) sum += request.prompt + request.output / 2.0;
    return sum / static_cast<double>(stream.trace->size());
  }
  return mean_of(stream.prompt) + mean_of(stream.output) / 2;
}

std::uint64_t cache_of(const LoadQuestion& question, double context, bool drafts) {
  if (question.server.engine.cache_tokens != 0) return question.server.engine.cache_tokens;
  CostPair costs = question.costs;
  if (!drafts) costs.draft = ConstantCost{0};
  const auto memory =
      device_memory(costs, {1, context}, question.memory_share, drafts ? question.max_gamma : 0);
  if (!memory || !memory->largest_batch) return 0;
  return static_cast<std::uint64_t>(std::max(0.0, *memory->largest_batch) * context);
}

ServerOptions load_server(const LoadQuestion& question, const LoadCandidate& candidate, double context) {
  ServingSection section = question.server;
  section.policy = candidate.policy;
  section.engine.cache_tokens = cache_of(question, context, candidate.drafts);
  CostPair costs = question.costs;
  StepExtras extras = question.extras;
  if (!candidate.drafts) {
    costs.draft = ConstantCost{0};
    extras.draft_follows = false;
  }
  return server_of(section, candidate.gamma, law_of(question), step_time(costs, extras));
}

bool has_own_policy(const LoadQuestion& question) { return question.server.policy.name() != "fixed"; }

std::vector<BatchRange> batch_table(const LoadQuestion& question, double context) {
  return gamma_by_batch(tokens_of(question), question.costs, context,
                        static_cast<int>(question.server.engine.max_sequences));
}

std::vector<LoadCandidate> load_candidates(const LoadQuestion& question,
                                           const std::vector<BatchRange>& by_batch) {
  std::vector<LoadCandidate> candidates;
  const auto add = [&](std::string name, std::string sentence, int gamma, Selected<StepPolicyKind> policy) {
    candidates.push_back(
        {std::move(name), std::move(sentence), static_cast<std::uint32_t>(gamma), std::move(policy)});
  };
  const Selected<StepPolicyKind> fixed = policy_named("fixed");
  add("plain", "no draft model", 0, fixed);
  candidates.back().drafts = false;
  candidates.back().settable = true;
  for (const int gamma : {1, 2, 3, 4, 5, 6, 8, 12, 16}) {
    if (gamma > question.max_gamma) break;
    add(fmt::format("γ = {}", gamma), "at every batch", gamma, fixed);
    candidates.back().settable = true;
  }
  const int most = question.max_gamma;
  add("table by batch", "the γ of each batch below; the draft also runs where it is 0", most,
      table_of(by_batch));
  candidates.back().settable = true;
  // SGLang's policy changes the number of draft runs, which is always one if a single run drafts all tokens.
  if (draft_runs(question.costs) == DraftRuns::a_token && knows_slots(question))
    add("SGLang's slots", "its default slots by batch, adjusted by the accepted tokens", most,
        policy_named("sglang"));
  add("goodput", "the γ with the most expected tokens per millisecond, with α as observed", most,
      policy_named("goodput"));
  const Selected<StepPolicyKind>& own = question.server.policy;
  if (has_own_policy(question)) add(own.name(), own.kind->sentence, most, own);
  return candidates;
}

RequestStream load_stream(const LoadQuestion& question) {
  ServingSection section = question.server;
  if (!section.trace && !section.requests_per_second) section.requests_per_second = 1;
  return stream_of(section);
}

LoadSize load_size(const LoadQuestion& question, double rate) {
  const ServingSection& section = question.server;
  if (!question.usual_size || section.bursts <= 1) return size_of(section);
  // A quiet phase lasts four times as long as a burst.
  constexpr double turns = 10;
  const auto measured =
      std::max(section.requests, static_cast<std::uint64_t>(turns * 5 * section.burst_seconds * rate));
  return {measured, measured / 5, measured / 10};
}

}  // namespace speclab
