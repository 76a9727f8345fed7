#include "experiments/catalog/rules/rule_kind.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/losslessness.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "sim/models/synthetic.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/rule_of.hpp"

using namespace speclab;

namespace {

ExactTable<double> exact_chain(std::uint64_t seed) {
  const std::vector<double> weights = dirichlet_rows(3, 3, 1, seed);
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < 9; i += 3) rows.push_back({weights[i], weights[i + 1], weights[i + 2]});
  return ExactTable<double>(rows);
}

ExactTable<double> argmax_chain(std::uint64_t seed) {
  std::vector<std::vector<double>> rows;
  for (const Token best : {static_cast<Token>(seed % 3), Token{2}, Token{1}}) {
    rows.emplace_back(3, 0.0);
    rows.back()[static_cast<std::size_t>(best)] = 1;
  }
  return ExactTable<double>(rows);
}

/// Returns the largest total variation, over instances, between the first three tokens and those of plain
/// sampling.
double largest_distance(const RuleConfig& config, double temperature) {
  const EnumerableRule rule = make_rule(config, 2).enumerated;
  double largest = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const ExactTable<double> target = temperature == 0 ? argmax_chain(seed) : exact_chain(seed);
    const ExactTable<double> draft = exact_chain(100 + seed);
    const std::vector<Token> context{static_cast<Token>(seed % 3)};
    // The comparison is with plain sampling, whatever plain decoding the rule assumes.
    const auto found = examine<double>(target, draft, rule, 2, context);
    largest = std::max(
        largest, distribution_distance(found.distribution, plain_distribution<double>(target, context, 3)));
  }
  return largest;
}

std::vector<RuleConfig> variants(const std::string& kind) {
  std::vector<Json> specs{Json{{"kind", kind}}};
  if (kind == "lenient") {
    for (const char* residual : {"target_minus_draft", "literal", "target"}) {
      for (const double lenience : {1.0, 0.5}) {
        specs.push_back({{"kind", kind}, {"lenience", lenience}, {"residual", residual}});
      }
    }
  }
  if (kind == "tree") specs.push_back({{"kind", kind}, {"growth", "dynamic"}});
  std::vector<RuleConfig> rules;
  for (const Json& spec : specs) rules.push_back(rule_from(spec));
  return rules;
}

}  // namespace

TEST_CASE("rules that are expected to be lossless are so by enumeration, and the others are not") {
  for (const std::string& kind : rule_family().names()) {
    for (const RuleConfig& rule : variants(kind)) {
      CAPTURE(kind);
      const double distance = largest_distance(rule, 1);
      if (expected_lossless(rule, 1)) {
        CHECK(distance < 1e-12);
      } else {
        CHECK(distance > 1e-9);
      }
    }
  }
  CHECK(expected_lossless(rule_named("greedy"), 0));
  CHECK(largest_distance(rule_named("greedy"), 0) < 1e-12);
  CHECK_FALSE(expected_lossless(rule_named("typical"), 0));
}

TEST_CASE("parameters that contradict one another") {
  const auto error = [](const std::string& text) {
    return config_error_of([&] { make_rule(rule_of(text), 3); });
  };
  CHECK(error(R"({"kind": "sigmoid", "alpha": 2, "beta": 1})") == "/rule/beta: 1 is not above alpha = 2");
  CHECK(error(R"({"kind": "tokn"})").find("did you mean \"token\"") != std::string::npos);
  CHECK(error(R"({"kind": "lenient", "lenience": 0})").find("/rule/lenience") == 0);
  CHECK(error(R"({"kind": "lenient", "residual": "none"})").find("/rule/residual") == 0);
  CHECK(error(R"({"kind": "recursive", "drafts": 65})").find("/rule/drafts") == 0);
  CHECK(error(R"({"kind": "token", "drafts": 2})").find("drafts") != std::string::npos);
}
