#include <cstdint>

#include "experiments/bench/recording_suite.hpp"
#include "experiments/cli/options.hpp"
#include "experiments/cli/print_result.hpp"
#include "experiments/cli/verb.hpp"
#include "experiments/support/machine.hpp"

namespace speclab {

namespace {

int bench_recordings_main(const Values& values) {
  const ThreadLimit limit(thread_option(values));
  constexpr std::int64_t max_tokens = 100'000'000;
  constexpr std::int64_t max_rows = 1'000'000;
  constexpr int max_repetitions = 1000;
  RecordingSuiteOptions options;
  options.tokens = static_cast<std::size_t>(ranged_option<std::int64_t>(values, "tokens", 1, max_tokens));
  options.rows = static_cast<std::size_t>(ranged_option<std::int64_t>(values, "rows", 1, max_rows));
  options.vocab = static_cast<std::size_t>(ranged_option<std::int64_t>(values, "vocab", 2, max_rows));
  options.repetitions = ranged_option(values, "repetitions", 1, max_repetitions);
  print(run_recording_suite(options), described<RecordingReport>(), values.has("json"),
        recording_report_text);
  return exit_ok;
}

}  // namespace

Verb bench_recordings_verb() {
  Verb verb{
      .name = "recordings",
      .sentence = "reading and planning recordings",
      .line = "speclab bench recordings [options]",
      .about =
          R"(Measures how fast recordings are read and planned on this machine: a CSV file of two columns, and a
safetensors file of whole rows in half precision, of which both are written beforehand and are in
memory when time is taken. Times differ from run to run.)",
      .examples = R"(  speclab bench recordings
  speclab bench recordings --rows 10000 --repetitions 3
)",
      .run = bench_recordings_main};
  verb.add<std::int64_t>("tokens", 1'000'000, "of the two columns");
  verb.add<std::int64_t>("rows", 2'000, "positions of the rows");
  verb.add<std::int64_t>("vocab", 49'152, "numbers of a row");
  verb.add<int>("repetitions", 5, "times each is measured");
  verb.add<int>("threads", 0, "0: all cores");
  verb.add("json", "print JSON");
  return verb;
}

}  // namespace speclab
