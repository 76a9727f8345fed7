#include "experiments/verifiers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "analysis/exact/losslessness.hpp"
#include "experiments/format/validate.hpp"
#include "sim/models/synthetic.hpp"

using namespace speclab;

namespace {

ExactTable<double> exact_chain(std::uint64_t seed) {
  const std::vector<double> probability = dirichlet_rows(3, 3, 1, seed);
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < 9; i += 3)
    rows.push_back({probability[i], probability[i + 1], probability[i + 2]});
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

/// The largest total variation, over instances, of the first three tokens' distribution from plain sampling.
double largest_distance(const AnyRule& rule, double temperature) {
  double largest = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const ExactTable<double> target = temperature == 0 ? argmax_chain(seed) : exact_chain(seed);
    const ExactTable<double> draft = exact_chain(100 + seed);
    const std::vector<Token> context{static_cast<Token>(seed % 3)};
    const SequenceDistribution<double> distribution = std::visit(
        [&](const auto& r) { return examine<double>(target, draft, r, 2, context).distribution; }, rule);
    largest = std::max(largest,
                       distribution_distance(distribution, plain_distribution<double>(target, context, 3)));
  }
  return largest;
}

Json defaults(const std::string& kind) {
  Json config = Json{{"title", "test"}, {"verifier", Json{{"kind", kind}}}};
  return resolve(config).at("verifier");
}

}  // namespace

TEST_CASE("what is claimed to be lossless is so by enumeration, and what is not is not") {
  for (const std::string& kind : verifier_family().names()) {
    std::vector<Json> specs{defaults(kind)};
    if (kind == "lenient") {
      for (const char* residual : {"target_minus_draft", "literal", "target"}) {
        for (const double lenience : {1.0, 0.5}) {
          specs.push_back(specs.front());
          specs.back()["lenience"] = lenience;
          specs.back()["residual"] = residual;
        }
      }
    }
    if (kind == "tree") {
      specs.push_back(specs.front());
      specs.back()["growth"] = "dynamic";
    }
    for (const Json& spec : specs) {
      CAPTURE(spec.dump());
      const double distance = largest_distance(make_rule(spec, 2), 1);
      if (lossless(spec, 1)) {
        CHECK(distance < 1e-12);
      } else {
        CHECK(distance > 1e-9);
      }
    }
  }
  CHECK(lossless(defaults("greedy"), 0));
  CHECK(largest_distance(make_rule(defaults("greedy"), 2), 0) < 1e-12);
  CHECK_FALSE(lossless(defaults("typical"), 0));
}
