#include <cstdint>

#include "experiments/bench/row_suite.hpp"
#include "experiments/cli/options.hpp"
#include "experiments/cli/print_result.hpp"
#include "experiments/cli/verb.hpp"

namespace speclab {

namespace {

int bench_rows_main(const Values& values) {
  constexpr std::int64_t largest_vocab = 1 << 20;
  constexpr std::int64_t max_rows = 1024;
  constexpr int max_repetitions = 1000;
  RowSuiteOptions options;
  options.vocabs = ranged_options<std::int64_t>(values, "vocab", 2, largest_vocab, options.vocabs);
  options.rows = static_cast<std::size_t>(ranged_option<std::int64_t>(values, "rows", 1, max_rows));
  options.repetitions = ranged_option(values, "repetitions", 1, max_repetitions);
  print(run_row_suite(options), described<RowReport>(), values.has("json"), row_report_text);
  return exit_ok;
}

}  // namespace

Verb bench_rows_verb() {
  Verb verb{
      .name = "rows",
      .sentence = "work on rows of large vocabularies",
      .line = "speclab bench rows [options]",
      .about =
          R"(Measures the work on rows of the vocabularies of neural models on this machine: from logits to
probabilities under sampling options, overlap, correction and draw, in one thread, beside reading and
copying the same rows. Times differ from run to run.)",
      .examples = R"(  speclab bench rows
  speclab bench rows --vocab 32000 --rows 1 --json
)",
      .run = bench_rows_main};
  verb.add<std::vector<std::int64_t>>(
      "vocab", "numbers of a row, once or more often (default 49152 and 151936, of SmolLM2 and Qwen2.5)");
  verb.add<std::int64_t>("rows", 64, "rows that are worked on in turn; 1: one that stays in the cache");
  verb.add<int>("repetitions", 5, "times each is measured");
  verb.add("json", "print JSON");
  return verb;
}

}  // namespace speclab
