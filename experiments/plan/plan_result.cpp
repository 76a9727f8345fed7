#include "experiments/plan/plan_result.hpp"

#include "experiments/run/result.hpp"

namespace speclab {

namespace {

const Typed<AcceptanceModel>& acceptance_model_type() {
  static const auto type =
      choice<AcceptanceModel>({{"i.i.d.", AcceptanceModel::iid}, {"positions", AcceptanceModel::positions}});
  return type;
}

const Typed<LogTest>& log_test_type() {
  static const auto type = object<LogTest>(
      "log test", "A chi-squared test of a log.",
      {field<&LogTest::statistic>("chi_squared", any_number(), "Pearson's statistic."),
       integer_field<&LogTest::degrees>("degrees", 0, 1e9, "Degrees of freedom; 0: too few rounds to tell."),
       field<&LogTest::p>("p", any_number(), "The p-value.")});
  return type;
}

const Typed<PlannedAlpha>& alpha_type() {
  static const auto type = object<PlannedAlpha>(
      "alpha", "The acceptance rate.",
      {field<&PlannedAlpha::value>("value", interval_type(), "The rate, with its interval."),
       field<&PlannedAlpha::from>("from", text(), "Where it is known from."),
       field<&PlannedAlpha::confidence>("confidence", any_number(), "Of the interval.")});
  return type;
}

const Typed<PlannedCosts>& costs_type() {
  static const auto type = object<PlannedCosts>(
      "costs", "What runs cost.",
      {field<&PlannedCosts::c>("c", any_number(), "Time of a draft run over that of a plain target run."),
       field<&PlannedCosts::from>("from", text(), "Where it is known from."),
       field<&PlannedCosts::batch>("batch", any_number(), "Sequences decoded together."),
       field<&PlannedCosts::context>("context", any_number(), "Tokens before the new ones.")});
  return type;
}

const Typed<GammaSpan>& span_type() {
  static const auto type =
      object<GammaSpan>("values of gamma", "From the least to the largest.",
                        {integer_field<&GammaSpan::low>("low", 0, 1e9, "The least."),
                         integer_field<&GammaSpan::high>("high", 0, 1e9, "The largest.")});
  return type;
}

const Typed<BestGamma>& best_type() {
  static const auto type = object<BestGamma>(
      "best gamma", "The number of drafted tokens with the largest speedup.",
      {integer_field<&BestGamma::gamma>("gamma", 0, 1e9, "Drafted tokens a round; 0: decode plainly."),
       field<&BestGamma::speedup>("speedup", interval_type(), "Over plain decoding."),
       field<&BestGamma::tokens_per_target_step>("tokens_per_target_step", any_number(),
                                                 "Emitted tokens a target run."),
       field<&BestGamma::by>("by", acceptance_model_type(), "The model of acceptance."),
       field<&BestGamma::reason>("reason", text(), "Why it is the best."),
       field<&BestGamma::within_1_percent>("within_1_percent", span_type(),
                                           "Values that lose at most 1% of the speedup.")});
  return type;
}

const Typed<AskedGamma>& asked_type() {
  static const auto type = object<AskedGamma>(
      "asked gamma", "The number of drafted tokens that was asked about.",
      {integer_field<&AskedGamma::gamma>("gamma", 0, 1e9, "Drafted tokens a round."),
       field<&AskedGamma::speedup>("speedup", interval_type(), "Over plain decoding."),
       field<&AskedGamma::by>("by", acceptance_model_type(), "The model of acceptance."),
       field<&AskedGamma::loss_percent>("loss_percent", any_number(), "Of the best speedup."),
       integer_field<&AskedGamma::batch_limit>("batch_limit", 0, 1e9,
                                               "The largest batch at which it still pays.")});
  return type;
}

const Typed<GammaRow>& gamma_row_type() {
  static const auto type = object<GammaRow>(
      "row", "One value of gamma.",
      {integer_field<&GammaRow::gamma>("gamma", 0, 1e9, "Drafted tokens a round."),
       field<&GammaRow::tokens_per_target_step>("tokens_per_target_step", any_number(),
                                                "Emitted tokens a target run."),
       field<&GammaRow::speedup>("speedup", interval_type(), "Over plain decoding."),
       field<&GammaRow::verify_cost>("verify_cost", any_number(),
                                     "A target run over gamma + 1 positions, in plain target runs.")});
  return type;
}

const Typed<PlanBounds>& bounds_type() {
  static const auto type = object<PlanBounds>(
      "bounds", "Speedups that are sure, and that no choice of gamma exceeds.",
      {field<&PlanBounds::guaranteed_speedup>(
           "guaranteed_speedup", any_number(),
           "Some gamma is at least as fast (Leviathan et al. 2023, Cor. 3.9)."),
       field<&PlanBounds::upper_bound_drafting_free>(
           "upper_bound_drafting_free", any_number(),
           "Of a gamma that knows what will be accepted, drafting free."),
       field<&PlanBounds::upper_bound_drafting_paid>("upper_bound_drafting_paid", any_number(),
                                                     "The same, drafting paid."),
       field<&PlanBounds::adaptive_gain>("adaptive_gain", any_number(),
                                         "upper_bound_drafting_paid over the best speedup, less 1.")});
  return type;
}

const Typed<LogPosition>& log_position_type() {
  static const auto type = object<LogPosition>(
      "position", "Acceptance at one position of a round.",
      {integer_field<&LogPosition::position>("position", 1, 1e9, "From 1."),
       integer_field<&LogPosition::examined>("examined", 0, 9e18, "Rounds that examined it."),
       integer_field<&LogPosition::accepted>("accepted", 0, 9e18, "Of those examined."),
       field<&LogPosition::conditional>("conditional", interval_type(), "Accepted, given those before."),
       field<&LogPosition::unconditional>("unconditional", any_number(), "Accepted, and all before.")});
  return type;
}

const Typed<OtherChoice>& other_choice_type() {
  static const auto type =
      object<OtherChoice>("other choice", "The best gamma by the other model of acceptance.",
                          {field<&OtherChoice::by>("by", acceptance_model_type(), "The model."),
                           integer_field<&OtherChoice::gamma>("gamma", 0, 1e9, "Drafted tokens a round."),
                           field<&OtherChoice::speedup>("speedup", interval_type(), "Over plain decoding.")});
  return type;
}

const Typed<LogFindings>& log_type() {
  static const auto type = object<LogFindings>(
      "log", "What a log of rounds shows.",
      {integer_field<&LogFindings::rounds>("rounds", 0, 9e18, "Rounds."),
       integer_field<&LogFindings::examined>("examined", 0, 9e18, "Tokens examined."),
       integer_field<&LogFindings::accepted>("accepted", 0, 9e18, "Tokens accepted."),
       field<&LogFindings::alpha_by_stretches>("alpha_by_stretches", interval_type(),
                                               "alpha without the assumption that rounds are independent."),
       field<&LogFindings::positions_alike>("positions_alike", log_test_type(),
                                            "Is acceptance the same at every position?"),
       field<&LogFindings::rounds_independent>("rounds_independent", log_test_type(),
                                               "Do rounds depend on the round before?"),
       field<&LogFindings::iid_rejected>("iid_rejected", boolean(),
                                         "Either test fails: acceptance is not i.i.d."),
       field<&LogFindings::positions>("positions", list(log_position_type()), "By position."),
       field<&LogFindings::other_choice>("other_choice", other_choice_type(),
                                         "The choice by the other model of acceptance.")});
  return type;
}

const Typed<BatchRange>& batch_range_type() {
  static const auto type = object<BatchRange>(
      "batches", "Batches with one best gamma.",
      {integer_field<&BatchRange::first>("first", 1, 1e9, "The least batch."),
       integer_field<&BatchRange::last>("last", 1, 1e9, "The largest."),
       integer_field<&BatchRange::gamma>("gamma", 0, 1e9, "The best; 0: do not speculate."),
       field<&BatchRange::least_speedup>("least_speedup", any_number(), "The least speedup of the range.")});
  return type;
}

const Typed<DeviceMemory>& memory_type() {
  static const auto type = object<DeviceMemory>(
      "memory", "Bytes on the device.",
      {field<&DeviceMemory::target_weights>("target_weights", any_number(), "Of the target."),
       field<&DeviceMemory::draft_weights>("draft_weights", any_number(), "Of the draft."),
       field<&DeviceMemory::cache_per_sequence>("cache_per_sequence", any_number(), "Of both models."),
       field<&DeviceMemory::usable>("usable", any_number(), "For weights and caches."),
       field<&DeviceMemory::largest_batch>("largest_batch", any_number(),
                                           "Sequences that fit; negative: the weights do not.")});
  return type;
}

const Typed<PlainAndSpeculative>& pair_type() {
  static const auto type = object<PlainAndSpeculative>(
      "per token", "Per emitted token.",
      {field<&PlainAndSpeculative::plain>("plain", any_number(), "Plain decoding."),
       field<&PlainAndSpeculative::speculative>("speculative", any_number(), "Speculative decoding.")});
  return type;
}

const Typed<DeviceFindings>& device_type() {
  static const auto type = object<DeviceFindings>(
      "device", "Times, memory, traffic and energy by the roofline.",
      {field<&DeviceFindings::name>("name", text(), "The device."),
       integer_field<&DeviceFindings::devices>("devices", 1, 1e9, "In tensor parallel."),
       field<&DeviceFindings::source>("source", text(), "Of the device's numbers."),
       field<&DeviceFindings::plain_ms>("plain_ms", any_number(), "A plain target run."),
       field<&DeviceFindings::draft_ms>("draft_ms", any_number(), "A draft run."),
       field<&DeviceFindings::verify_ms>("verify_ms", any_number(), "A target run over gamma + 1 positions."),
       field<&DeviceFindings::plain_tokens_per_second>("plain_tokens_per_second", any_number(),
                                                       "Of the whole batch."),
       field<&DeviceFindings::speculative_tokens_per_second>("speculative_tokens_per_second", any_number(),
                                                             "Of the whole batch."),
       field<&DeviceFindings::compute_bound>("compute_bound", boolean(), "Plain target runs."),
       field<&DeviceFindings::intensity>("intensity", any_number(), "FLOP a byte of plain target runs."),
       field<&DeviceFindings::balance>("balance", any_number(), "FLOP a byte of the device."),
       field<&DeviceFindings::memory>("memory", memory_type(), "Bytes on the device."),
       field<&DeviceFindings::bytes_per_token>("bytes_per_token", pair_type(), "Memory traffic."),
       field<&DeviceFindings::joules_per_token>("joules_per_token", pair_type(), "Energy, roughly.")});
  return type;
}

const Typed<ServerSetting>& setting_type() {
  static const auto type = object<ServerSetting>(
      "server", "How a server carries the plan out.",
      {field<&ServerSetting::server>("server", text(), "Its name."),
       field<&ServerSetting::checked>("checked", text(), "The documentation of its options."),
       field<&ServerSetting::lines>("lines", list(text()), "What to type.")});
  return type;
}

}  // namespace

const Typed<DrafterPlan>& drafter_plan_type() {
  static const auto type = object<DrafterPlan>(
      "plan", "The plan for one drafter.",
      {field<&DrafterPlan::drafter>("drafter", text(), "Its name."),
       field<&DrafterPlan::target>("target", text(), "The target's name."),
       field<&DrafterPlan::alpha>("alpha", alpha_type(), "The acceptance rate."),
       field<&DrafterPlan::costs>("costs", costs_type(), "What runs cost."),
       field<&DrafterPlan::best>("best", best_type(), "The best gamma."),
       field<&DrafterPlan::asked>("asked", asked_type(), "The gamma of --gamma."),
       field<&DrafterPlan::gammas>("gammas", list(gamma_row_type()), "Values of gamma around the best."),
       field<&DrafterPlan::bounds>("bounds", bounds_type(), "Bounds of the speedup."),
       field<&DrafterPlan::advice>("advice", list(text()), "Sentences."),
       field<&DrafterPlan::log>("log", log_type(), "What a log of rounds shows."),
       field<&DrafterPlan::batches>("batches", list(batch_range_type()), "The best gamma by batch."),
       integer_field<&DrafterPlan::batch_limit>(
           "batch_limit", 0, 1e9, "The largest batch at which the best gamma, kept fixed, still pays."),
       field<&DrafterPlan::device>("device", device_type(), "What the roofline says."),
       field<&DrafterPlan::settings>("settings", list(setting_type()), "For five servers.")});
  return type;
}

const Typed<DrafterRanking>& drafter_ranking_type() {
  static const auto type = object<DrafterRanking>(
      "ranking", "Plans for several drafters, the fastest first.",
      {field<&DrafterRanking::ranking>("ranking", list(drafter_plan_type()), "Plans.")});
  return type;
}

}  // namespace speclab
