#include "experiments/bench/sim_result.hpp"
#include "experiments/config/result_fields.hpp"

namespace speclab {

namespace {

const Typed<MachineLimits>& limits_type() {
  static const auto read = result_object<ReadLimit>("reads", {{"bytes", &ReadLimit::bytes},
                                                              {"latency_ns", &ReadLimit::latency_ns},
                                                              {"in_flight_ns", &ReadLimit::in_flight_ns}});
  static const auto type = result_object<MachineLimits>(
      "limits", {{"instruction_set", &MachineLimits::instruction_set},
                 {"block_ns", &MachineLimits::block_ns},
                 {"scalar_block_ns", &MachineLimits::scalar_block_ns},
                 {"sequential_bytes", &MachineLimits::sequential_bytes},
                 {"sequential_bytes_per_second", &MachineLimits::sequential_bytes_per_second},
                 {"reads", &MachineLimits::reads, read}});
  return type;
}

const Typed<PreparationRow>& preparation_type() {
  using Row = PreparationRow;
  static const auto type =
      result_object<Row>("preparation", {{"name", &Row::name},
                                         {"text_bytes", &Row::text_bytes},
                                         {"tokens", &Row::tokens},
                                         {"corpus_seconds", &Row::corpus_seconds},
                                         {"training_seconds", &Row::training_seconds},
                                         {"preparing_seconds", &Row::preparing_seconds},
                                         {"contexts", &Row::contexts},
                                         {"table_bytes", &Row::table_bytes},
                                         {"text_bytes_per_second", &Row::text_bytes_per_second}});
  return type;
}

const Typed<LengthRow>& length_type() {
  static const auto type =
      result_object<LengthRow>("length", {{"name", &LengthRow::name},
                                          {"tokens", &LengthRow::tokens},
                                          {"peak_bytes", &LengthRow::peak_bytes},
                                          {"ns_per_token", &LengthRow::ns_per_token},
                                          {"best_ns_per_token", &LengthRow::best_ns_per_token},
                                          {"repetitions", &LengthRow::repetitions}});
  return type;
}

const Typed<TimeBound>& bound_type() {
  static const auto type =
      result_object<TimeBound>("bound", {{"random_ns_per_token", &TimeBound::random_ns_per_token},
                                         {"reads_ns_per_token", &TimeBound::reads_ns_per_token},
                                         {"sum_ns_per_token", &TimeBound::sum_ns_per_token},
                                         {"larger_ns_per_token", &TimeBound::larger_ns_per_token},
                                         {"ratio_to_sum", &TimeBound::ratio_to_sum},
                                         {"ratio_to_larger", &TimeBound::ratio_to_larger}});
  return type;
}

const Typed<TokenCounts>& counts_type() {
  static const auto type =
      result_object<TokenCounts>("per token", {{"random_numbers", &TokenCounts::random_numbers},
                                               {"reads", &TokenCounts::reads},
                                               {"passes", &TokenCounts::passes}});
  return type;
}

const Typed<TableSizes>& tables_type() {
  static const auto type =
      result_object<TableSizes>("tables", {{"streams", &TableSizes::streams},
                                           {"table_bytes", &TableSizes::table_bytes},
                                           {"contexts", &TableSizes::contexts},
                                           {"bytes_per_context", &TableSizes::bytes_per_context}});
  return type;
}

const Typed<WorkloadRow>& workload_type() {
  using Row = WorkloadRow;
  static const auto type =
      result_object<Row>("workload", {{"name", &Row::name},
                                      {"threads", &Row::threads},
                                      {"clock", &Row::clock},
                                      {"seconds", &Row::seconds},
                                      {"wall_seconds", &Row::wall_seconds},
                                      {"spread", &Row::spread},
                                      {"tokens", &Row::tokens},
                                      {"rounds", &Row::rounds},
                                      {"tokens_per_second", &Row::tokens_per_second},
                                      {"rounds_per_second", &Row::rounds_per_second},
                                      {"ns_per_token", &Row::ns_per_token},
                                      {"cache_misses_per_token", &Row::cache_misses_per_token},
                                      {"per_token", &Row::per_token, counts_type()},
                                      {"tables", &Row::tables, tables_type()},
                                      {"bound", &Row::bound, bound_type()}});
  return type;
}

const Typed<NumpyRow>& numpy_type() {
  static const auto test =
      result_object<NumpyTest>("test", {{"fast_accepted_lengths", &NumpyTest::fast_accepted_lengths},
                                        {"pearson", &NumpyTest::pearson},
                                        {"degrees", &NumpyTest::degrees},
                                        {"p", &NumpyTest::p}});
  static const auto measured = result_object<NumpyMeasurement>(
      "measurement", {{"output", &NumpyMeasurement::output, numpy_output_type()},
                      {"tokens_per_second", &NumpyMeasurement::tokens_per_second},
                      {"test", &NumpyMeasurement::test, test},
                      {"fast_over_numpy", &NumpyMeasurement::fast_over_numpy}});
  static const auto type = result_object<NumpyRow>("NumPy", {{"name", &NumpyRow::name},
                                                             {"skipped", &NumpyRow::skipped},
                                                             {"measured", &NumpyRow::measured, measured}});
  return type;
}

}  // namespace

const Typed<NumpyOutput>& numpy_output_type() {
  static const auto type = result_object<NumpyOutput>("output of numpy_reference.py",
                                                      {{"rounds", &NumpyOutput::rounds},
                                                       {"emitted", &NumpyOutput::emitted},
                                                       {"seconds", &NumpyOutput::seconds},
                                                       {"accepted_lengths", &NumpyOutput::accepted_lengths}});
  return type;
}

const Typed<SimReport>& sim_report_type() {
  static const auto ratio =
      result_object<RatioRow>("ratio", {{"name", &RatioRow::name}, {"ratio", &RatioRow::ratio}});
  static const auto drafting =
      result_object<DraftingRow>("drafting", {{"name", &DraftingRow::name},
                                              {"read_ns_per_token", &DraftingRow::read_ns_per_token},
                                              {"propose_ns_per_token", &DraftingRow::propose_ns_per_token},
                                              {"mean_length", &DraftingRow::mean_length}});
  static const auto type =
      result_object<SimReport>("bench sim", {{"version", &SimReport::version},
                                             {"machine", &SimReport::machine},
                                             {"command", &SimReport::command},
                                             {"quick", &SimReport::brief},
                                             {"gamma", &SimReport::gamma},
                                             {"repetitions", &SimReport::repetitions},
                                             {"text_bytes", &SimReport::text_bytes},
                                             {"lengths", &SimReport::lengths, length_type()},
                                             {"preparation", &SimReport::preparation, preparation_type()},
                                             {"limits", &SimReport::limits, limits_type()},
                                             {"workloads", &SimReport::workloads, workload_type()},
                                             {"comparisons", &SimReport::comparisons, ratio},
                                             {"drafting", &SimReport::drafting, drafting},
                                             {"numpy", &SimReport::numpy, numpy_type()}});
  return type;
}

}  // namespace speclab
