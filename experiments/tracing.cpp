#include "experiments/tracing.hpp"

#include <fmt/format.h>

#include <variant>

#include "experiments/format/config_error.hpp"
#include "sim/sequences.hpp"
#include "sim/walltime.hpp"

namespace speclab {

namespace {

std::string token_text(const Setup& setup, Token token) {
  return setup.vocabulary ? setup.vocabulary->text(token) : fmt::format("{}", token);
}

}  // namespace

void require_one_draft(const AnyRule& rule, const std::string& experiment) {
  const bool one = std::visit([]<class Rule>(const Rule&) { return ChainRule<Rule>; }, rule);
  if (one) return;
  throw ConfigError(
      "/verifier/kind",
      fmt::format("experiment \"{}\" shows rounds of one drafted sequence, and this verifier drafts several; "
                  "use \"decode\", or a verifier of one draft",
                  experiment));
}

Json trace_rounds(const Setup& setup, const Json& trace, const CostRatios& cost) {
  Json traces = Json::array();
  for (const Json& each : trace.at("gammas")) {
    const int gamma = each.get<int>();
    const auto records = std::visit(
        [&]<class Rule>(const Rule& rule) -> std::vector<RoundRecord> {
          if constexpr (ChainRule<Rule>) {
            return record_rounds(setup.target, setup.draft, rule, gamma, setup.plan.prompt(0),
                                 trace.at("tokens").get<std::size_t>(), setup.plan.seed);
          } else {
            return {};  // refused by require_one_draft
          }
        },
        setup.rule);
    Json rounds = Json::array();
    std::size_t emitted = 0;
    for (const RoundRecord& record : records) {
      Json drafted = Json::array();
      for (const Token token : record.drafted) drafted.push_back(token_text(setup, token));
      rounds.push_back(
          {{"drafted", drafted}, {"accepted", record.accepted}, {"next", token_text(setup, record.next)}});
      emitted += static_cast<std::size_t>(record.accepted) + 1;
    }
    const auto runs = static_cast<double>(records.size());
    Json prompt = Json::array();
    for (const Token token : setup.plan.prompt(0)) prompt.push_back(token_text(setup, token));
    traces.push_back({{"gamma", gamma},
                      {"prompt", prompt},
                      {"target_runs", records.size()},
                      {"draft_runs", records.size() * static_cast<std::size_t>(gamma)},
                      {"tokens", emitted},
                      {"time", runs * (1 + gamma * cost.c)},
                      {"c", cost.c},
                      {"rounds", rounds}});
  }
  return traces;
}

Json time_walltime(const Setup& setup, int gamma, const Json& walltime, const std::string& label) {
  const Walltime measured = std::visit(
      [&](const auto& rule) {
        return measure_walltime(
            setup.target, setup.draft, rule, gamma, setup.plan.prompt(0), setup.plan.seed,
            walltime.at("tokens").get<std::uint32_t>(), walltime.at("target_weights").get<std::size_t>(),
            walltime.at("draft_weights").get<std::size_t>(), walltime.at("repeats").get<std::uint32_t>());
      },
      setup.rule);
  return {{"label", label},
          {"gamma", gamma},
          {"target_run_microseconds", 1e6 * measured.target_run_seconds},
          {"draft_run_microseconds", 1e6 * measured.draft_run_seconds},
          {"c", measured.c()},
          {"tokens_per_round", measured.tokens_per_round},
          {"plain_tokens_per_second", 1 / measured.plain_seconds_per_token},
          {"speculative_tokens_per_second", 1 / measured.speculative_seconds_per_token},
          {"speed", measured.speedup()},
          {"predicted_speed", measured.tokens_per_round / (gamma * measured.c() + 1)}};
}

}  // namespace speclab
