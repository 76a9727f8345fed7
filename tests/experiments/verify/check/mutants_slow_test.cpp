// Tests that `prove` refutes and `check` rejects every planted fault; a fault that survives either fails the
// build. Null: the first three tokens have the target's distribution. Level 1e-9. By its exact distribution,
// every fault is found with probability at least 1 - 1e-9.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/config/config.hpp"
#include "experiments/verify/check/equality_test.hpp"
#include "experiments/verify/prove/proof_task.hpp"
#include "tests/experiments/rule_of.hpp"
#include "tests/planned_power.hpp"

using namespace speclab;

namespace {

constexpr int gamma = 2;
constexpr int tokens = 3;
constexpr std::uint64_t samples = 100000;
constexpr double level = 1e-9;
constexpr double power = 1 - 1e-9;

/// Returns a config in which every fault shows: a chain shows rows of a wrong context, a zero shows excluded
/// tokens, a residual of two tokens shows wrong proportions, and two ratios below 1 in a row show wrong
/// dependence between them.
Config config_for(const Json& rule) {
  return read_config(
      {{"title", "mutant"},
       {"seed", 17},
       {"models",
        {{"target", {{"kind", "table"}, {"rows", {{5, 3, 2}, {1, 4, 5}, {0, 6, 4}}}}},
         {"draft", {{"kind", "table"}, {"rows", {{1, 3, 6}, {7, 2, 1}, {2, 2, 6}}}}}}},
       {"rule", rule},
       {"gamma", gamma},
       {"check", {{"tokens", tokens}, {"samples", samples}, {"level", level}, {"power", 0.99}}}});
}

Setup setup_for(const Json& rule) {
  ModelFactory factory;
  return build_setup(config_for(rule), factory);
}

EqualityResult check(const Json& rule) {
  const Config config = config_for(rule);
  return test_equality(setup_for(rule), gamma, config.section<CheckSection>(), Control{}).value();
}

/// Returns the faults that configs can name, and the approximation that is a fault. `check` cannot see a
/// comparison that is wrong by 2^-24; it gets a coarser one.
std::vector<Json> mutants() {
  std::vector<Json> all;
  for (const std::string& name : rule_family().names()) {
    if (name.starts_with("fault-") || name == "sigmoid") all.push_back({{"kind", name}});
  }
  return all;
}

Json coarse(Json rule) {
  if (rule.at("kind") == "fault-closed-comparison") rule["levels"] = 8;
  return rule;
}

/// Returns P(the joint test rejects at its share of the level), from the fault's exact distribution.
double planned(const Json& rule) {
  const Setup setup = setup_for(rule);
  const std::vector<Token>& prompt = setup.simulation.prompt(0);
  const auto null = plain_distribution<double>(setup.target, prompt, tokens);
  const auto alternative =
      sequence_distribution<double>(setup.target, setup.draft, setup.rule.enumerated, gamma, prompt, tokens);
  constexpr int tests = 2 + tokens;
  return planned_power(planned_sequence_test(null, alternative, samples), level / tests);
}

}  // namespace

TEST_CASE("every fault of the list exists") {
  for (const char* fault : {"fault-resample-target",
                            "fault-swapped-residual",
                            "fault-shared-noise",
                            "fault-unwritten-bonus",
                            "fault-draft-bonus",
                            "fault-closed-comparison",
                            "fault-block-prefix",
                            "fault-stale-siblings",
                            "fault-late-context",
                            "fault-accept-all",
                            "fault-ensemble-bonus",
                            "fault-claimed-draft",
                            "fault-inverted-ratio",
                            "fault-argmax-verifier",
                            "fault-next-row",
                            "fault-drawn-ratio",
                            "fault-reused-gumbel",
                            "fault-unfiltered-draft",
                            "fault-filtered-bonus",
                            "fault-greedy-misses",
                            "fault-anticipating",
                            "fault-repeated-uniform",
                            "sigmoid"}) {
    CHECK(rule_family().find(fault) != nullptr);
  }
  CHECK(mutants().size() == 34);
}

TEST_CASE("prove refutes every fault in exact arithmetic, with a counterexample") {
  for (const Json& rule : mutants()) {
    CAPTURE(rule.dump());
    const Proof proof = prove(proof_task(config_for(rule)), Arithmetic::rational);
    CHECK_FALSE(proof.lossless);
    CHECK(std::get<std::string>(proof.tv) != "0");
    REQUIRE(proof.counterexample);
    CHECK(proof.counterexample->probability != proof.counterexample->target_probability);
  }
}

TEST_CASE("check rejects every fault, as its planned power says it must") {
  for (const Json& mutant : mutants()) {
    const Json rule = coarse(mutant);
    CAPTURE(rule.dump());
    CHECK(planned(rule) >= power);
    CHECK(check(rule).different);
  }
}

TEST_CASE("the sound rules beside them are proved, and pass") {
  for (const char* name : {"token", "block", "recursive", "tree", "traversal", "gumbel"}) {
    const Json rule{{"kind", name}};
    CAPTURE(name);
    CHECK(std::get<std::string>(prove(proof_task(config_for(rule)), Arithmetic::rational).tv) == "0");
    CHECK(planned(rule) < 2 * level);
    CHECK_FALSE(check(rule).different);
  }
}
