#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "core/stop.hpp"
#include "experiments/bench/rule_suite.hpp"
#include "experiments/cli/options.hpp"
#include "experiments/cli/print_result.hpp"
#include "experiments/cli/verb.hpp"
#include "experiments/run/terminal_watch.hpp"
#include "experiments/support/machine.hpp"

namespace speclab {

namespace {

int bench_rules_main(const Values& values) {
  constexpr int largest_vocab = 1 << 20;
  constexpr int largest_gamma = 16;
  constexpr int max_drafts = 8;
  constexpr int max_instances = 1000000;
  constexpr int max_repetitions = 1000;
  RuleSuiteOptions options;
  options.vocabs = ranged_options<std::int32_t>(values, "vocab", 2, largest_vocab, options.vocabs);
  for (const std::int32_t vocab : options.vocabs) {
    if (std::count(options.vocabs.begin(), options.vocabs.end(), vocab) > 1)
      throw UsageError("--vocab {} is given twice", vocab);
  }
  options.gamma = ranged_option(values, "gamma", 1, largest_gamma);
  options.drafts = ranged_option(values, "drafts", 1, max_drafts);
  options.repetitions = ranged_option(values, "repetitions", 1, max_repetitions);
  const int instances = ranged_option(values, "instances", 1, max_instances);
  const ThreadLimit limit(thread_option(values));
  TerminalWatch watch("proofs", values.has("json"));
  const Control control = watch.control(survey_tasks().size() * static_cast<std::size_t>(instances));
  constexpr std::uint64_t seed = 1;
  Survey survey = prove_all(static_cast<std::uint32_t>(instances), seed, true, control);
  if (survey.partial) throw Stopped{};
  print(run_rule_suite(options, std::move(survey)), described<RuleReport>(), values.has("json"),
        rule_report_text);
  return exit_ok;
}

}  // namespace

Verb bench_rules_verb() {
  Verb verb{
      .name = "rules",
      .sentence = "a decision of each rule, beside its proof and the optimum",
      .line = "speclab bench rules [options]",
      .about =
          R"(Every rule of prove --all --optimum in one table: its total variation from the target, the tokens
that it emits as a share of the most of any lossless scheme, and what a decision takes on this machine:
a round by the rule's definition, on rows that are at hand, less the draws of its drafted tokens. That
is the program that is proved, not the fastest: the fast engine and GPU kernels are measured by the
other suites. Times differ from run to run.)",
      .examples = R"(  speclab bench rules
  speclab bench rules --vocab 32000 --instances 20 --json
)",
      .run = bench_rules_main};
  verb.add<std::vector<std::int32_t>>("vocab", "numbers of a row, once or more often (default 32 and 4096)");
  verb.add<int>("gamma", 4, "drafted positions of a timed round");
  verb.add<int>("drafts", 3, "paths or siblings of a timed round, of rules for several");
  verb.add<int>("instances", 500, "random instances that each rule is proved on");
  verb.add<int>("repetitions", 5, "times each is measured");
  verb.add("json", "print JSON");
  add_thread_option(verb, "threads of the proofs");
  return verb;
}

}  // namespace speclab
