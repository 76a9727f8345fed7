#include "experiments/run/timings.hpp"

namespace speclab {

namespace {

const Typed<WalltimeRow>& walltime_type() {
  const auto measured = any_number();
  using Row = WalltimeRow;
  static const auto type = object<Row>(
      "walltime", "One cell of the experiment walltime.",
      {field<&Row::label>("label", text(), "Name of the cell."),
       integer_field<&Row::gamma>("gamma", 0, 64, "Drafted tokens per round."),
       with_unit(field<&Row::target_run_microseconds>("target_run_microseconds", measured, "A target run."),
                 "µs"),
       with_unit(field<&Row::draft_run_microseconds>("draft_run_microseconds", measured, "A draft run."),
                 "µs"),
       field<&Row::c>("c", measured, "Draft run / target run."),
       field<&Row::tokens_per_target_step>("tokens_per_target_step", measured,
                                           "Mean number of emitted tokens."),
       field<&Row::plain_tokens_per_second>("plain_tokens_per_second", measured, "Plain decoding."),
       field<&Row::speculative_tokens_per_second>("speculative_tokens_per_second", measured,
                                                  "Speculative decoding."),
       field<&Row::speedup>("speedup", measured, "The ratio of the two."),
       field<&Row::predicted_speedup>("predicted_speedup", measured,
                                      "Theorem 3.8 at the measured c and tokens per target step.")});
  return type;
}

const Typed<DeviceTimings>& device_type() {
  using Device = DeviceTimings;
  static const auto type =
      object<Device>("device", "The GPU that simulated.",
                     {field<&Device::name>("name", text(), "Name."),
                      field<&Device::compute_capability>("compute_capability", text(), "Compute capability."),
                      field<&Device::driver>("driver", text(), "Version of the driver."),
                      field<&Device::runtime>("runtime", text(), "Version of the runtime.")});
  return type;
}

}  // namespace

const Typed<Timings>& timings_type() {
  static const auto type = object<Timings>(
      "timings", "What depends on the machine.",
      {field<&Timings::walltime>("walltime", list(walltime_type()), "Measured walltime, a row a cell."),
       field<&Timings::device>("device", device_type(), "The GPU that simulated."),
       with_unit(field<&Timings::seconds>("seconds", any_number(), "The run."), "s"),
       integer_field<&Timings::threads>("threads", 0, 1e9, "Worker threads."),
       field<&Timings::machine>("machine", text(), "Processor, cores and system.")});
  return type;
}

}  // namespace speclab
