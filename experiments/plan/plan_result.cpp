#include "experiments/plan/plan_result.hpp"

#include "experiments/config/result_fields.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

namespace {

const Typed<AcceptanceModel>& acceptance_model_type() {
  static const auto type =
      choice<AcceptanceModel>({{"i.i.d.", AcceptanceModel::iid}, {"positions", AcceptanceModel::positions}});
  return type;
}

const Typed<LogTest>& log_test_type() {
  static const auto type = result_object<LogTest>(
      "log test", {{"chi_squared", &LogTest::statistic}, {"degrees", &LogTest::degrees}, {"p", &LogTest::p}});
  return type;
}

const Typed<PlannedAlpha>& alpha_type() {
  static const auto type =
      result_object<PlannedAlpha>("alpha", {{"value", &PlannedAlpha::value, interval_type()},
                                            {"from", &PlannedAlpha::from},
                                            {"confidence", &PlannedAlpha::confidence}});
  return type;
}

const Typed<PlannedCosts>& costs_type() {
  static const auto type = result_object<PlannedCosts>("costs", {{"c", &PlannedCosts::c},
                                                                 {"from", &PlannedCosts::from},
                                                                 {"batch", &PlannedCosts::batch},
                                                                 {"context", &PlannedCosts::context}});
  return type;
}

const Typed<GammaSpan>& span_type() {
  static const auto type =
      result_object<GammaSpan>("values of gamma", {{"low", &GammaSpan::low}, {"high", &GammaSpan::high}});
  return type;
}

const Typed<BestGamma>& best_type() {
  static const auto type = result_object<BestGamma>(
      "best gamma", {{"gamma", &BestGamma::gamma},
                     {"speedup", &BestGamma::speedup, interval_type()},
                     {"tokens_per_target_step", &BestGamma::tokens_per_target_step},
                     {"by", &BestGamma::by, acceptance_model_type()},
                     {"reason", &BestGamma::reason},
                     {"within_1_percent", &BestGamma::within_1_percent, span_type()}});
  return type;
}

const Typed<AskedGamma>& asked_type() {
  static const auto type =
      result_object<AskedGamma>("asked gamma", {{"gamma", &AskedGamma::gamma},
                                                {"speedup", &AskedGamma::speedup, interval_type()},
                                                {"by", &AskedGamma::by, acceptance_model_type()},
                                                {"loss_percent", &AskedGamma::loss_percent},
                                                {"batch_limit", &AskedGamma::batch_limit}});
  return type;
}

const Typed<GammaRow>& gamma_row_type() {
  static const auto type =
      result_object<GammaRow>("row", {{"gamma", &GammaRow::gamma},
                                      {"tokens_per_target_step", &GammaRow::tokens_per_target_step},
                                      {"speedup", &GammaRow::speedup, interval_type()},
                                      {"verify_cost", &GammaRow::verify_cost}});
  return type;
}

const Typed<PlanBounds>& bounds_type() {
  static const auto type = result_object<PlanBounds>(
      "bounds", {{"guaranteed_speedup", &PlanBounds::guaranteed_speedup},
                 {"upper_bound_drafting_free", &PlanBounds::upper_bound_drafting_free},
                 {"upper_bound_drafting_paid", &PlanBounds::upper_bound_drafting_paid},
                 {"adaptive_gain", &PlanBounds::adaptive_gain}});
  return type;
}

const Typed<LogPosition>& log_position_type() {
  static const auto type =
      result_object<LogPosition>("position", {{"position", &LogPosition::position},
                                              {"examined", &LogPosition::examined},
                                              {"accepted", &LogPosition::accepted},
                                              {"conditional", &LogPosition::conditional, interval_type()},
                                              {"unconditional", &LogPosition::unconditional}});
  return type;
}

const Typed<OtherChoice>& other_choice_type() {
  static const auto type =
      result_object<OtherChoice>("other choice", {{"by", &OtherChoice::by, acceptance_model_type()},
                                                  {"gamma", &OtherChoice::gamma},
                                                  {"speedup", &OtherChoice::speedup, interval_type()}});
  return type;
}

const Typed<LogFindings>& log_type() {
  static const auto type = result_object<LogFindings>(
      "log", {{"rounds", &LogFindings::rounds},
              {"examined", &LogFindings::examined},
              {"accepted", &LogFindings::accepted},
              {"alpha_by_stretches", &LogFindings::alpha_by_stretches, interval_type()},
              {"positions_alike", &LogFindings::positions_alike, log_test_type()},
              {"rounds_independent", &LogFindings::rounds_independent, log_test_type()},
              {"iid_rejected", &LogFindings::iid_rejected},
              {"positions", &LogFindings::positions, log_position_type()},
              {"other_choice", &LogFindings::other_choice, other_choice_type()}});
  return type;
}

const Typed<BatchRange>& batch_range_type() {
  static const auto type =
      result_object<BatchRange>("batches", {{"first", &BatchRange::first},
                                            {"last", &BatchRange::last},
                                            {"gamma", &BatchRange::gamma},
                                            {"least_speedup", &BatchRange::least_speedup}});
  return type;
}

const Typed<DeviceMemory>& memory_type() {
  static const auto type =
      result_object<DeviceMemory>("memory", {{"target_weights", &DeviceMemory::target_weights},
                                             {"draft_weights", &DeviceMemory::draft_weights},
                                             {"cache_per_sequence", &DeviceMemory::cache_per_sequence},
                                             {"usable", &DeviceMemory::usable},
                                             {"largest_batch", &DeviceMemory::largest_batch}});
  return type;
}

const Typed<PlainAndSpeculative>& pair_type() {
  static const auto type = result_object<PlainAndSpeculative>(
      "per token",
      {{"plain", &PlainAndSpeculative::plain}, {"speculative", &PlainAndSpeculative::speculative}});
  return type;
}

const Typed<DeviceFindings>& device_type() {
  static const auto type = result_object<DeviceFindings>(
      "device", {{"name", &DeviceFindings::name},
                 {"devices", &DeviceFindings::devices},
                 {"source", &DeviceFindings::source},
                 {"plain_ms", &DeviceFindings::plain_ms},
                 {"draft_ms", &DeviceFindings::draft_ms},
                 {"verify_ms", &DeviceFindings::verify_ms},
                 {"plain_tokens_per_second", &DeviceFindings::plain_tokens_per_second},
                 {"speculative_tokens_per_second", &DeviceFindings::speculative_tokens_per_second},
                 {"compute_bound", &DeviceFindings::compute_bound},
                 {"intensity", &DeviceFindings::intensity},
                 {"balance", &DeviceFindings::balance},
                 {"memory", &DeviceFindings::memory, memory_type()},
                 {"bytes_per_token", &DeviceFindings::bytes_per_token, pair_type()},
                 {"joules_per_token", &DeviceFindings::joules_per_token, pair_type()}});
  return type;
}

const Typed<ServerSetting>& setting_type() {
  static const auto type = result_object<ServerSetting>("server", {{"server", &ServerSetting::server},
                                                                   {"checked", &ServerSetting::checked},
                                                                   {"lines", &ServerSetting::lines}});
  return type;
}

}  // namespace

const Typed<DrafterPlan>& drafter_plan_type() {
  static const auto type =
      result_object<DrafterPlan>("plan", {{"drafter", &DrafterPlan::drafter},
                                          {"target", &DrafterPlan::target},
                                          {"alpha", &DrafterPlan::alpha, alpha_type()},
                                          {"costs", &DrafterPlan::costs, costs_type()},
                                          {"best", &DrafterPlan::best, best_type()},
                                          {"asked", &DrafterPlan::asked, asked_type()},
                                          {"gammas", &DrafterPlan::gammas, gamma_row_type()},
                                          {"bounds", &DrafterPlan::bounds, bounds_type()},
                                          {"advice", &DrafterPlan::advice},
                                          {"log", &DrafterPlan::log, log_type()},
                                          {"batches", &DrafterPlan::batches, batch_range_type()},
                                          {"batch_limit", &DrafterPlan::batch_limit},
                                          {"device", &DrafterPlan::device, device_type()},
                                          {"settings", &DrafterPlan::settings, setting_type()}});
  return type;
}

const Typed<DrafterRanking>& drafter_ranking_type() {
  static const auto type =
      result_object<DrafterRanking>("ranking", {{"ranking", &DrafterRanking::ranking, drafter_plan_type()}});
  return type;
}

}  // namespace speclab
