#include "serving/advisor/load_policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <utility>

#include "analysis/cost/device_speed.hpp"

namespace speclab {

namespace {

double mean_of(const Length& length) {
  if (const auto* fixed = std::get_if<FixedLength>(&length)) return fixed->tokens;
  if (const auto* geometric = std::get_if<GeometricLength>(&length)) return geometric->mean;
  return std::get<LogNormalLength>(length).mean;
}

GammaTable table_of(const std::vector<ContextTable>& tables) {
  GammaTable all;
  for (const ContextTable& table : tables) {
    for (const BatchRange& range : table.rows) {
      all.rows.push_back(
          {static_cast<std::uint32_t>(range.last), table.context, static_cast<std::uint32_t>(range.gamma)});
    }
  }
  return all;
}

}  // namespace

AcceptanceLaw acceptance_of(const LoadQuestion& question) {
  if (question.alpha_spread == 0) return iid_law(question.alpha);
  return beta_law(question.alpha, question.alpha_spread);
}

double mean_context(const RequestStream& stream) {
  if (stream.trace) {
    double sum = 0;
    for (const Request& request : *stream.trace) sum += request.prompt + request.output / 2.0;
    return sum / static_cast<double>(stream.trace->size());
  }
  return mean_of(stream.prompt) + mean_of(stream.output) / 2;
}

std::vector<CostPair> costs_by_device(const LoadQuestion& question) {
  if (!question.draft_device) return {question.costs};
  return {{question.costs.target, ConstantCost{0}}, {question.costs.draft, ConstantCost{0}}};
}

std::uint64_t cache_of(const LoadQuestion& question, bool drafts) {
  if (question.cache_tokens != 0) return question.cache_tokens;
  std::vector<CostPair> devices = costs_by_device(question);
  if (!drafts) devices = {{question.costs.target, ConstantCost{0}}};
  const double context = mean_context(question.stream);
  std::uint64_t tokens = 0;
  for (const CostPair& costs : devices) {
    const auto memory = device_memory(costs, {1, context}, question.memory_share);
    if (!memory || !memory->largest_batch) continue;
    const auto held = static_cast<std::uint64_t>(std::max(0.0, *memory->largest_batch) * context);
    tokens = tokens == 0 ? held : std::min(tokens, held);
  }
  return tokens;
}

ServerOptions load_server(const LoadQuestion& question, const LoadCandidate& candidate) {
  ServerOptions server;
  server.replicas = question.replicas;
  server.policy = candidate.policy;
  server.acceptance = acceptance_of(question);
  EngineOptions& engine = server.engine;
  engine.max_sequences = question.max_sequences;
  engine.step_tokens = question.step_tokens;
  engine.cache_blocks = cache_of(question, candidate.drafts) / engine.block_tokens;
  CostPair costs = question.costs;
  StepExtras extras = question.extras;
  if (!candidate.drafts) costs.draft = ConstantCost{0};
  if (!candidate.drafts) extras.draft_follows = false;
  engine.time = step_time(costs, extras);
  engine.draft_budget = question.draft_budget;
  if (question.draft_device && candidate.drafts) {
    const LoadDraftDevice& known = *question.draft_device;
    const std::uint32_t gamma = std::get<FixedGamma>(candidate.policy).gamma;
    engine.draft_device = DraftDevice{
        .outcomes = known.outcomes,
        .plain_after_miss = known.plain_after_miss,
        .hit = known.hit ? equal_hits(*known.hit, gamma)
                         : likeliest_hits(server.acceptance, known.rank_shares, known.outcomes, gamma),
        .target = target_time(costs, extras),
        .draft = draft_time(costs)};
  }
  return server;
}

std::vector<BatchRange> batch_table(const LoadQuestion& question, double context) {
  return gamma_by_batch(iid_tokens(question.alpha, question.max_gamma), question.costs, context,
                        static_cast<int>(question.max_sequences));
}

std::vector<ContextTable> context_tables(const LoadQuestion& question) {
  const double mean = mean_context(question.stream);
  std::vector<ContextTable> tables;
  for (const double share : {.25, .5, 1., 2., 4.}) {
    ContextTable table{std::numbers::sqrt2 * share * mean, batch_table(question, share * mean)};
    if (!tables.empty() &&
        std::equal(table.rows.begin(), table.rows.end(), tables.back().rows.begin(), tables.back().rows.end(),
                   [](const BatchRange& a, const BatchRange& b) { return a.same_row(b); })) {
      tables.back().context = table.context;
    } else {
      tables.push_back(std::move(table));
    }
  }
  tables.back().context = 0;
  return tables;
}

std::vector<LoadCandidate> load_candidates(const LoadQuestion& question,
                                           const std::vector<BatchRange>& by_batch,
                                           const std::vector<ContextTable>& tables) {
  std::vector<LoadCandidate> candidates;
  candidates.push_back({"plain", "no draft model", FixedGamma{0}, false});
  for (const int gamma : {1, 2, 3, 4, 5, 6, 8, 12, 16}) {
    if (gamma > question.max_gamma) break;
    candidates.push_back({fmt::format("γ = {}", gamma), "at every batch",
                          FixedGamma{static_cast<std::uint32_t>(gamma)}, true, true});
  }
  if (question.draft_device) return candidates;
  const StepTime time = step_time(question.costs, question.extras);
  const auto most = static_cast<std::uint32_t>(question.max_gamma);
  candidates.push_back({"table by batch", "the γ of each batch below, with a draft run where it is 0",
                        table_of({{0, by_batch}})});
  if (tables.size() > 1) {
    candidates.push_back(
        {"table by context", "the γ of each batch and mean context below", table_of(tables)});
  }
  // It changes the number of draft runs, of which there is but one where it drafts all.
  if (draft_runs(question.costs) == DraftRuns::a_token) {
    candidates.push_back(
        {"SGLang's steps", "its default slots by batch, moved by what is accepted", EmaTiers::defaults()});
  }
  candidates.push_back({"goodput", "the γ of the most expected tokens a millisecond, α as it is seen",
                        GoodputGamma{.most = most, .time = time}});
  if (question.draft_correlation) {
    const ConfidenceLaw confidence(*question.draft_correlation,
                                   position_rates(acceptance_of(question), most));
    candidates.push_back(
        {"adaptive verification",
         fmt::format("γ = {}, of which those are verified that confidences choose, by a budget a step old",
                     most),
         AdaptiveVerification{.gamma = most, .confidence = confidence, .time = time}});
  }
  return candidates;
}

RequestStream load_stream(const LoadQuestion& question, double rate) {
  RequestStream stream = question.stream;
  if (stream.trace) {
    stream.arrivals = TraceArrivals{rate / trace_rate(*stream.trace)};
  } else {
    stream.arrivals = bursty_arrivals(rate, question.burst_factor, question.burst_seconds);
  }
  return stream;
}

LoadSize load_size(const LoadQuestion& question, double rate) {
  constexpr std::uint64_t usual = 1000;
  constexpr double turns = 10;
  std::uint64_t measured = question.requests.value_or(usual);
  // A phase between bursts lasts four times as long.
  if (!question.requests && question.burst_factor > 1)
    measured = std::max(measured, static_cast<std::uint64_t>(turns * 5 * question.burst_seconds * rate));
  return {measured, measured / 5, measured / 10};
}

}  // namespace speclab
