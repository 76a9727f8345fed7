#include "serving/advisor/plan_result.hpp"

#include "experiments/base/format/result_fields.hpp"

namespace speclab {

SPECLAB_CHOICE(AcceptanceModel, {"i.i.d.", AcceptanceModel::iid}, {"positions", AcceptanceModel::positions},
               {"replay", AcceptanceModel::replay});

SPECLAB_OBJECT(LogTest, "log test", {"chi_squared", &LogTest::statistic},
               SPECLAB_FIELDS(LogTest, degrees, p));

SPECLAB_RESULT(PlannedAlpha, "alpha", value, from, confidence, note);
SPECLAB_RESULT(PlannedCosts, "costs", c, from, batch, context, drafted_in_one_run);
SPECLAB_RESULT(GammaRange, "values of gamma", low, high);
SPECLAB_RESULT(SpeedupRange, "range of speedups", low, high);
SPECLAB_RESULT(BestGamma, "best gamma", gamma, speedup, speedup_at_other_costs, tokens_per_target_step, by,
               reason, within_1_percent);
SPECLAB_RESULT(GammaRow, "row", gamma, tokens_per_target_step, speedup, verify_cost);
SPECLAB_RESULT(PlanBounds, "bounds", guaranteed_speedup, upper_bound_drafting_free, upper_bound_drafting_paid,
               longest_draft, adaptive_gain);
SPECLAB_RESULT(LogPosition, "position", position, examined, accepted, conditional, unconditional);
SPECLAB_RESULT(OtherChoice, "other choice", by, gamma, speedup);
SPECLAB_RESULT(AcceptanceMetrics, "acceptance metrics", accepted_of_drafted, accepted_of_examined,
               accepted_of_emitted, emitted_of_verified, accepted_a_round, emitted_a_round, mean_of_rates,
               by_position, by_position_given);
SPECLAB_RESULT(LogMeans, "log of means", format, rounds, drafted, accepted, lines, metrics);
SPECLAB_RESULT(LogFindings, "log", format, rounds, examined, accepted, alpha_by_stretches, positions_alike,
               rounds_independent, iid_rejected, positions, metrics, other_choice);
SPECLAB_RESULT(BatchRange, "batches", first, last, gamma, min_speedup);
SPECLAB_RESULT(DeviceMemory, "memory", target_weights, draft_weights, counted_weights, cache_per_sequence,
               state_per_sequence, usable, largest_batch);
SPECLAB_RESULT(DeviceFindings, "device", name, devices, source, plain_ms, draft_ms, verify_ms,
               plain_tokens_per_second, speculative_tokens_per_second, compute_bound, intensity, balance,
               memory);
SPECLAB_RESULT(ServerSetting::OlderForm, "older form", versions, lines);
SPECLAB_RESULT(ServerSetting::Synthetic, "synthetic acceptance", line, law);
SPECLAB_RESULT(ServerSetting, "server", server, purpose, checked, check, lines, older, notes, synthetic);
SPECLAB_RESULT(DrafterPlan, "plan", drafter, target, fits, fits_reason, alpha, costs, best, gammas, bounds,
               advice, warnings, log, means, batches, batch_limit, device, settings);

}  // namespace speclab
