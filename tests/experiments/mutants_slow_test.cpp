// Every planted fault must be refuted by `prove` and rejected by `check`, at the power that the exact
// distribution of the fault gives the test. A fault that survives either fails the build. Null: the first
// three tokens have the target's distribution. Level 1e-9; every fault is planned to be found with
// probability 1 - 1e-9 or more.
#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "analysis/exact/losslessness.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/equality_check.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/proof.hpp"
#include "experiments/verifiers.hpp"

using namespace speclab;

namespace {

constexpr int gamma = 2;
constexpr int tokens = 3;
constexpr std::uint64_t samples = 100000;
constexpr double level = 1e-9;
constexpr double power = 1 - 1e-9;

/// A chain, so that a row of the wrong context shows, with a zero, so that an excluded token shows.
Json config_for(const Json& verifier) {
  return Json{{"title", "mutant"},
              {"seed", 17},
              {"models",
               {{"target", {{"kind", "table"}, {"rows", {{5, 3, 2}, {1, 4, 5}, {0, 6, 4}}}}},
                {"draft", {{"kind", "table"}, {"rows", {{1, 3, 6}, {4, 4, 2}, {3, 3, 4}}}}}}},
              {"verifier", verifier},
              {"gamma", gamma},
              {"check", {{"tokens", tokens}, {"samples", samples}, {"level", level}, {"power", 0.99}}}};
}

/// The faults that configs can name, and the approximation that is one. `check` cannot see an acceptance draw
/// that is wrong by 2^-24; it gets a coarser one.
std::vector<Json> mutants() {
  std::vector<Json> all;
  for (const std::string& name : verifier_family().names()) {
    if (name.starts_with("fault-") || name == "sigmoid") all.push_back({{"kind", name}});
  }
  return all;
}

Json coarse(Json verifier) {
  if (verifier.at("kind") == "fault-closed-coin") verifier["levels"] = 8;
  return verifier;
}

/// P(the joint test rejects at its share of the level), from the fault's exact distribution.
double planned(const Json& verifier) {
  const ProofTask task = proof_task(resolve(config_for(verifier)));
  const auto converted = [](const ExactRows& rows) {
    std::vector<std::vector<double>> out;
    for (const auto& row : rows) {
      out.emplace_back();
      for (const Rational& probability : row) out.back().push_back(static_cast<double>(probability));
    }
    return ExactTable<double>(out);
  };
  const ExactTable<double> target = converted(task.target);
  const ExactTable<double> draft = converted(task.draft);
  const SequenceDistribution<double> null = plain_distribution<double>(target, task.context, tokens);
  const SequenceDistribution<double> distribution = std::visit(
      [&](const auto& rule) {
        return sequence_distribution<double>(target, draft, rule, gamma, task.context, tokens);
      },
      make_rule(task.verifier, gamma));
  constexpr int tests = 2 + tokens;
  return planned_power(ExactSequenceTests(null, 3, tokens, samples).plan(distribution), level / tests);
}

}  // namespace

TEST_CASE("every fault of the list exists") {
  const std::vector<std::string> names = verifier_family().names();
  for (const char* fault :
       {"fault-resample-target", "fault-swapped-residual", "fault-shared-noise", "fault-unwritten-bonus",
        "fault-draft-bonus", "fault-closed-coin", "fault-block-prefix", "fault-stale-siblings",
        "fault-late-context", "fault-accept-all", "sigmoid"}) {
    CHECK(std::find(names.begin(), names.end(), fault) != names.end());
  }
  CHECK(mutants().size() == 11);
}

TEST_CASE("prove refutes every fault in exact arithmetic, with a counterexample") {
  for (const Json& verifier : mutants()) {
    CAPTURE(verifier.dump());
    const Json proof = prove(proof_task(resolve(config_for(verifier))), true);
    CHECK(proof.at("lossless") == false);
    CHECK(proof.at("tv") != "0");
    CHECK(proof.at("counterexample").at("law") != proof.at("counterexample").at("target_law"));
  }
}

TEST_CASE("check rejects every fault, as its planned power says it must") {
  for (const Json& mutant : mutants()) {
    const Json verifier = coarse(mutant);
    CAPTURE(verifier.dump());
    CHECK(planned(verifier) >= power);
    CHECK(check_equality(config_for(verifier)).different());
  }
}

TEST_CASE("the sound rules beside them are proved, and pass") {
  for (const char* name : {"token", "block", "recursive", "tree", "traversal", "gumbel"}) {
    const Json verifier{{"kind", name}};
    CAPTURE(name);
    CHECK(prove(proof_task(resolve(config_for(verifier))), true).at("tv") == "0");
    CHECK(planned(verifier) < 2 * level);
    CHECK_FALSE(check_equality(config_for(verifier)).different());
  }
}
