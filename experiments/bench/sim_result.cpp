#include "experiments/bench/sim_result.hpp"

namespace speclab {

namespace {

constexpr double many = 9.2e18;

const Typed<MachineLimits>& limits_type() {
  static const auto read = object<ReadLimit>(
      "reads", "Random reads from memory of one size.",
      {integer_field<&ReadLimit::bytes>("bytes", 0, many, "Size of the memory."),
       field<&ReadLimit::latency_ns>("latency_ns", any_number(), "A read that depends on the one before."),
       field<&ReadLimit::in_flight_ns>("in_flight_ns", any_number(), "Independent reads, 32 at a time.")});
  static const auto type = object<MachineLimits>(
      "limits", "What the machine allows on one thread.",
      {field<&MachineLimits::instruction_set>("instruction_set", text(), "Of the Philox blocks."),
       field<&MachineLimits::block_ns>("block_ns", any_number(), "A Philox block."),
       field<&MachineLimits::scalar_block_ns>("scalar_block_ns", any_number(), "One at a time."),
       integer_field<&MachineLimits::sequential_bytes>("sequential_bytes", 0, many, "Read in order."),
       field<&MachineLimits::sequential_bytes_per_second>("sequential_bytes_per_second", any_number(),
                                                          "Rate of these reads."),
       field<&MachineLimits::reads>("reads", list(read), "By size.")});
  return type;
}

const Typed<PreparationRow>& preparation_type() {
  using Row = PreparationRow;
  static const auto type = object<Row>(
      "preparation", "Making a pair of models, once, on one thread.",
      {field<&Row::name>("name", text(), "The pair."),
       integer_field<&Row::text_bytes>("text_bytes", 0, many, "Of the training text; 0: not trained."),
       integer_field<&Row::tokens>("tokens", 0, many, "Of the training text."),
       field<&Row::corpus_seconds>("corpus_seconds", any_number(), "Words to ids."),
       field<&Row::training_seconds>("training_seconds", any_number(), "Both models."),
       field<&Row::preparing_seconds>("preparing_seconds", any_number(), "The fast engine's tables."),
       integer_field<&Row::contexts>("contexts", 0, many, "Of the tables."),
       integer_field<&Row::table_bytes>("table_bytes", 0, many, "Of the tables."),
       field<&Row::text_bytes_per_second>("text_bytes_per_second", any_number(),
                                          "Words to ids and training.")});
  return type;
}

const Typed<LengthRow>& length_type() {
  static const auto type = object<LengthRow>(
      "length", "A run of a given length.",
      {field<&LengthRow::name>("name", text(), "The run."),
       integer_field<&LengthRow::tokens>("tokens", 0, many, "Emitted."),
       integer_field<&LengthRow::peak_bytes>("peak_bytes", 0, many, "Of memory."),
       field<&LengthRow::ns_per_token>("ns_per_token", any_number(), "Median."),
       field<&LengthRow::best_ns_per_token>("best_ns_per_token", any_number(), "The best repetition."),
       integer_field<&LengthRow::repetitions>("repetitions", 0, many, "How often it ran.")});
  return type;
}

const Typed<TimeBound>& bound_type() {
  static const auto type = object<TimeBound>(
      "bound", "What the machine's limits give, in nanoseconds a token.",
      {field<&TimeBound::random_ns_per_token>("random_ns_per_token", any_number(), "Random numbers."),
       field<&TimeBound::reads_ns_per_token>("reads_ns_per_token", any_number(), "Reads of tables."),
       field<&TimeBound::sum_ns_per_token>("sum_ns_per_token", any_number(), "Both."),
       field<&TimeBound::larger_ns_per_token>("larger_ns_per_token", any_number(), "The larger of the two."),
       field<&TimeBound::ratio_to_sum>("ratio_to_sum", any_number(), "Measured over the sum."),
       field<&TimeBound::ratio_to_larger>("ratio_to_larger", any_number(), "Measured over the larger.")});
  return type;
}

const Typed<TokenCounts>& counts_type() {
  static const auto type =
      object<TokenCounts>("per token", "What a token takes.",
                          {field<&TokenCounts::random_numbers>("random_numbers", any_number(), "Of 64 bits."),
                           field<&TokenCounts::reads>("reads", any_number(), "Of tables."),
                           field<&TokenCounts::passes>("passes", any_number(), "Over the vocabulary.")});
  return type;
}

const Typed<TableSizes>& tables_type() {
  static const auto type = object<TableSizes>(
      "tables", "The fast engine's tables.",
      {integer_field<&TableSizes::streams>("streams", 1, many, "Sequences that one thread decodes in turn."),
       integer_field<&TableSizes::table_bytes>("table_bytes", 0, many, "In all."),
       integer_field<&TableSizes::contexts>("contexts", 0, many, "Rows."),
       field<&TableSizes::bytes_per_context>("bytes_per_context", any_number(), "The ratio of the two.")});
  return type;
}

const Typed<WorkloadRow>& workload_type() {
  using Row = WorkloadRow;
  static const auto type =
      object<Row>("workload", "Decoding of one pair by one engine.",
                  {field<&Row::name>("name", text(), "The workload."),
                   integer_field<&Row::threads>("threads", 1, many, "Used."),
                   field<&Row::clock>("clock", text(), "Of \"seconds\": processor or wall."),
                   field<&Row::seconds>("seconds", list(any_number()), "Of the repetitions."),
                   field<&Row::wall_seconds>("wall_seconds", list(any_number()), "By the wall clock."),
                   field<&Row::spread>("spread", any_number(), "Interquartile range over the median."),
                   integer_field<&Row::tokens>("tokens", 0, many, "Emitted by a repetition."),
                   integer_field<&Row::rounds>("rounds", 0, many, "Of a repetition."),
                   field<&Row::tokens_per_second>("tokens_per_second", any_number(), "Median."),
                   field<&Row::rounds_per_second>("rounds_per_second", any_number(), "Median."),
                   field<&Row::ns_per_token>("ns_per_token", any_number(), "Median."),
                   field<&Row::cache_misses_per_token>("cache_misses_per_token", any_number(),
                                                       "Of the last cache, in user mode."),
                   field<&Row::per_token>("per_token", counts_type(), "What a token takes."),
                   field<&Row::tables>("tables", tables_type(), "The fast engine's tables."),
                   field<&Row::bound>("bound", bound_type(), "What the machine's limits give.")});
  return type;
}

const Typed<NumpyRow>& numpy_type() {
  static const auto test = object<NumpyTest>(
      "test", "Do NumPy and the fast engine accept equally many tokens?",
      {field<&NumpyTest::fast_accepted_lengths>("fast_accepted_lengths", list(count<std::uint64_t>()),
                                                "Of the fast engine, by accepted tokens."),
       field<&NumpyTest::pearson>("pearson", any_number(), "Chi-squared."),
       integer_field<&NumpyTest::degrees>("degrees", 0, many, "Of freedom."),
       field<&NumpyTest::p>("p", any_number(), "The p-value.")});
  static const auto measured = object<NumpyMeasurement>(
      "measurement", "The same tables decoded by NumPy.",
      {field<&NumpyMeasurement::output>("output", numpy_output_type(), "What the script prints."),
       field<&NumpyMeasurement::tokens_per_second>("tokens_per_second", any_number(), "Emitted."),
       field<&NumpyMeasurement::test>("test", test, "Against the fast engine."),
       field<&NumpyMeasurement::fast_over_numpy>("fast_over_numpy", any_number(),
                                                 "Ratio of tokens per second.")});
  static const auto type =
      object<NumpyRow>("NumPy", "scripts/numpy_reference.py on the same tables.",
                       {field<&NumpyRow::name>("name", text(), "The workload."),
                        field<&NumpyRow::skipped>("skipped", text(), "Why it did not run."),
                        field<&NumpyRow::measured>("measured", measured, "What was measured.")});
  return type;
}

}  // namespace

const Typed<NumpyOutput>& numpy_output_type() {
  static const auto type = object<NumpyOutput>(
      "output of numpy_reference.py", "What the script prints.",
      {required(integer_field<&NumpyOutput::rounds>("rounds", 0, many, "Rounds.")),
       required(integer_field<&NumpyOutput::emitted>("emitted", 0, many, "Tokens.")),
       required(field<&NumpyOutput::seconds>("seconds", any_number(), "Processor time of decoding.")),
       required(field<&NumpyOutput::accepted_lengths>("accepted_lengths", list(count<std::uint64_t>()),
                                                      "Last rounds of sequences by accepted tokens."))});
  return type;
}

const Typed<SimReport>& sim_report_type() {
  static const auto ratio = object<RatioRow>("ratio", "Of tokens per second.",
                                             {field<&RatioRow::name>("name", text(), "What over what."),
                                              field<&RatioRow::ratio>("ratio", any_number(), "The ratio.")});
  static const auto drafting = object<DraftingRow>(
      "drafting", "A drafter that runs no model.",
      {field<&DraftingRow::name>("name", text(), "The drafter."),
       field<&DraftingRow::read_ns_per_token>("read_ns_per_token", any_number(), "A settled token."),
       field<&DraftingRow::propose_ns_per_token>("propose_ns_per_token", any_number(), "A drafted token."),
       field<&DraftingRow::mean_length>("mean_length", any_number(), "Drafted tokens a round.")});
  static const auto type = object<SimReport>(
      "bench sim", "The speed of the simulator.",
      {field<&SimReport::version>("version", text(), "Of speclab."),
       field<&SimReport::machine>("machine", text(), "Processor, cores and system."),
       field<&SimReport::command>("command", text(), "What was typed."),
       field<&SimReport::brief>("quick", boolean(), "Sizes too small to mean much."),
       integer_field<&SimReport::gamma>("gamma", 0, many, "Drafted tokens a round."),
       integer_field<&SimReport::repetitions>("repetitions", 1, many, "Of every row."),
       integer_field<&SimReport::text_bytes>("text_bytes", 0, many, "Of the training text."),
       field<&SimReport::lengths>("lengths", list(length_type()), "Time and memory by length."),
       field<&SimReport::preparation>("preparation", list(preparation_type()), "Making the pairs."),
       field<&SimReport::limits>("limits", limits_type(), "What the machine allows."),
       field<&SimReport::workloads>("workloads", list(workload_type()), "Decoding."),
       field<&SimReport::comparisons>("comparisons", list(ratio), "Ratios of rows."),
       field<&SimReport::drafting>("drafting", list(drafting), "Drafters that run no model."),
       field<&SimReport::numpy>("numpy", numpy_type(), "The same tables decoded by NumPy.")});
  return type;
}

}  // namespace speclab
