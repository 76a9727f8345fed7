#include "experiments/bench/sim_result.hpp"
#include "experiments/base/format/result_fields.hpp"

namespace speclab {

SPECLAB_RESULT(ReadLimit, "reads", bytes, latency_ns, in_flight_ns);
SPECLAB_RESULT(MachineLimits, "limits", instruction_set, block_ns, scalar_block_ns, sequential_bytes,
               sequential_bytes_per_second, reads);
SPECLAB_RESULT(PreparationRow, "preparation", name, text_bytes, tokens, corpus_seconds, training_seconds,
               preparing_seconds, contexts, table_bytes, text_bytes_per_second);
SPECLAB_RESULT(LengthRow, "length", name, tokens, peak_bytes, ns_per_token, best_ns_per_token, repetitions);
SPECLAB_RESULT(TimeBound, "bound", random_ns_per_token, reads_ns_per_token, sum_ns_per_token,
               larger_ns_per_token, ratio_to_sum, ratio_to_larger);
SPECLAB_RESULT(TokenCounts, "per token", random_numbers, reads, passes);
SPECLAB_RESULT(TableSizes, "tables", streams, table_bytes, contexts, bytes_per_context);
SPECLAB_RESULT(WorkloadRow, "workload", name, threads, clock, seconds, wall_seconds, spread, tokens, rounds,
               tokens_per_second, rounds_per_second, ns_per_token, cache_misses_per_token, per_token, tables,
               bound);
SPECLAB_RESULT(NumpyTest, "test", fast_accepted_lengths, pearson, degrees, p);
SPECLAB_RESULT(NumpyOutput, "output of numpy_reference.py", rounds, emitted, seconds, accepted_lengths);
SPECLAB_RESULT(NumpyMeasurement, "measurement", output, tokens_per_second, test, fast_over_numpy);
SPECLAB_RESULT(NumpyRow, "NumPy", name, skipped, measured);
SPECLAB_RESULT(RatioRow, "ratio", name, ratio);
SPECLAB_RESULT(DraftingRow, "drafting", name, read_ns_per_token, propose_ns_per_token, mean_length);
SPECLAB_RESULT(SimReport, "bench sim", version, machine, command, quick, gamma, repetitions, text_bytes,
               lengths, preparation, limits, workloads, comparisons, drafting, numpy);

}  // namespace speclab
