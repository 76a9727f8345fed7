#include "experiments/run/timings.hpp"
#include "experiments/format/result_fields.hpp"

namespace speclab {

SPECLAB_RESULT(ClockedGamma, "clocked", label, batch, gamma, target_run_milliseconds, verify_run_milliseconds,
               draft_run_milliseconds, c, verify_cost, alpha, expected_tokens, tokens_per_target_step,
               round_time, printed_speedup, corrected_speedup, predicted_speedup, predicted_low,
               predicted_high, played_speedup, speedup, speedup_low, speedup_high, plain_tokens_per_second,
               speculative_tokens_per_second);

namespace {

const Typed<WalltimeRow>& walltime_type() {
  using Row = WalltimeRow;
  static const auto type =
      result_object<Row>("walltime", {{"label", &Row::label},
                                      {"gamma", &Row::gamma},
                                      {"target_run_microseconds", &Row::target_run_microseconds},
                                      {"draft_run_microseconds", &Row::draft_run_microseconds},
                                      {"c", &Row::c},
                                      {"tokens_per_target_step", &Row::tokens_per_target_step},
                                      {"plain_tokens_per_second", &Row::plain_tokens_per_second},
                                      {"speculative_tokens_per_second", &Row::speculative_tokens_per_second},
                                      {"speedup", &Row::speedup},
                                      {"predicted_speedup", &Row::predicted_speedup}});
  return type;
}

const Typed<DeviceTimings>& device_type() {
  using Device = DeviceTimings;
  static const auto type =
      result_object<Device>("device", {{"name", &Device::name},
                                       {"compute_capability", &Device::compute_capability},
                                       {"driver", &Device::driver},
                                       {"runtime", &Device::runtime}});
  return type;
}

}  // namespace

const Typed<Timings>& timings_type() {
  static const auto type =
      result_object<Timings>("timings", {{"walltime", &Timings::walltime, walltime_type()},
                                         {"clocked", &Timings::clocked},
                                         {"device", &Timings::device, device_type()},
                                         {"seconds", &Timings::seconds},
                                         {"threads", &Timings::threads},
                                         {"machine", &Timings::machine},
                                         {"version", &Timings::version},
                                         {"command", &Timings::command}});
  return type;
}

}  // namespace speclab
