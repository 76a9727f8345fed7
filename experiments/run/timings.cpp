#include "experiments/run/timings.hpp"
#include "experiments/base/format/result_fields.hpp"

namespace speclab {

SPECLAB_RESULT(ClockedGamma, "clocked", label, batch, gamma, target_run_milliseconds, verify_run_milliseconds,
               draft_run_milliseconds, c, verify_cost, alpha, expected_tokens, tokens_per_target_step,
               round_time, printed_speedup, corrected_speedup, predicted_speedup, predicted_low,
               predicted_high, played_speedup, speedup, speedup_low, speedup_high, plain_tokens_per_second,
               speculative_tokens_per_second);

SPECLAB_RESULT(DeviceTimings, "device", name, compute_capability, driver, runtime);

const Typed<Timings>& timings_type() {
  static const auto type = result_object<Timings>("timings", {{"clocked", &Timings::clocked},
                                                              {"device", &Timings::device},
                                                              {"seconds", &Timings::seconds},
                                                              {"threads", &Timings::threads},
                                                              {"machine", &Timings::machine},
                                                              {"version", &Timings::version},
                                                              {"command", &Timings::command}});
  return type;
}

}  // namespace speclab
