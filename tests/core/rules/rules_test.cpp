#include "tests/core/rules/all_rules.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "tests/core/rules/golden_pair.hpp"

using namespace speclab;

namespace {

struct Given {
  double value;
  double operator()(Draw) const { return value; }
};

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double just_below_one = 1 - 0x1p-53;

/// Verifies one drafted token with the same uniform for every draw; the bonus comes from the same target row.
template <class Rule>
Verdict verify_one(const Rule& rule, const std::vector<double>& target, const std::vector<double>& draft,
                   Token token, double u) {
  UniformRandomSource<Given> random(Given{u});
  return verify(
      rule, [&](std::int32_t) { return row(target); }, [&](std::int32_t) { return row(draft); }, &token, 1,
      random);
}

}  // namespace

TEST_CASE("token rule: min(1, p/q) and (p - q)+ on the golden vector") {
  const TokenRule rule;
  CHECK(rule.acceptance(0, row(golden_target), row(golden_draft)) == 1);
  CHECK(rule.acceptance(1, row(golden_target), row(golden_draft)) == 1);
  CHECK(rule.acceptance(2, row(golden_target), row(golden_draft)) == doctest::Approx(1.0 / 3));
  const auto residual = rule.replacement(row(golden_target), row(golden_draft));
  CHECK(residual[0] == 0.4);
  CHECK(residual[1] == 0);
  CHECK(residual[2] == 0);
  CHECK(rule.bonus(row(golden_target)).probabilities == golden_target.data());
}

TEST_CASE("acceptance edges: p = 0, q = 0, both, NaN") {
  CHECK(acceptance_ratio(0.0, 0.5, 1.0) == 0);
  CHECK(acceptance_ratio(0.5, 0.0, 1.0) == 0);
  CHECK(acceptance_ratio(0.0, 0.0, 1.0) == 0);
  CHECK(acceptance_ratio(not_a_number, 0.5, 1.0) == 0);
  CHECK(acceptance_ratio(0.5, not_a_number, 1.0) == 0);
  CHECK(acceptance_ratio(0.5, 0.5, 1.0) == 1);
  CHECK(acceptance_ratio(0.25, 0.5, 0.5) == 1);
}

TEST_CASE("the inverted ratio accepts surely what the target excludes, and nothing that was not drafted") {
  const StepFault fault{WrongStep::inverted_ratio};
  const std::vector<double> target{0, .25, .75};
  const std::vector<double> draft{.5, .5, 0};
  CHECK(fault.acceptance(0, row(target), row(draft)) == 1);
  CHECK(fault.acceptance(1, row(target), row(draft)) == 1);
  CHECK(fault.acceptance(2, row(target), row(draft)) == 0);
  CHECK(fault.acceptance(2, row(target), row(target)) == 1);
  const std::vector<double> spread{.1, .4, .5};
  CHECK(fault.acceptance(2, row(target), row(spread)) == doctest::Approx(2.0 / 3));
}

TEST_CASE("u = 0 does not rescue a token that the target gives probability 0") {
  const Verdict verdict = verify_one(TokenRule{}, {0, 1}, {1, 0}, 0, 0.0);
  CHECK(verdict.accepted == 0);
  CHECK(verdict.examined == 1);
  CHECK(verdict.next == 1);
}

TEST_CASE("the comparison is strict: u just below and at p/q") {
  CHECK(verify_one(TokenRule{}, {0.25, 0.75}, {0.5, 0.5}, 0, 0.5 - 0x1p-54).accepted == 1);
  CHECK(verify_one(TokenRule{}, {0.25, 0.75}, {0.5, 0.5}, 0, 0.5).accepted == 0);
  CHECK(verify_one(TokenRule{}, {0.5, 0.5}, {0.5, 0.5}, 0, just_below_one).accepted == 1);
}

TEST_CASE("a token of draft probability zero is rejected, and a residual of zero falls back on the target") {
  // Injected: by the draft's row token 1 cannot have been drawn. The residual is (0, 0), so the target
  // replaces it.
  const Verdict verdict = verify_one(TokenRule{}, {1, 0}, {1, 0}, 1, 0.5);
  CHECK(verdict.accepted == 0);
  CHECK(verdict.next == 0);
}

TEST_CASE("all accepted: the bonus comes from the target, and everything was examined") {
  const Verdict verdict = verify_one(TokenRule{}, golden_target, golden_draft, 0, 0.9);
  CHECK(verdict.accepted == 1);
  CHECK(verdict.examined == 1);
  CHECK(verdict.next == 2);
}

TEST_CASE("an invalid row never becomes an id") {
  const std::vector<double> sound{0.2, 0.3, 0.5};
  for (Token at = 0; at < 3; ++at) {
    std::vector<double> invalid = sound;
    invalid[static_cast<std::size_t>(at)] = not_a_number;
    CAPTURE(at);
    // The NaN is the probability of the drafted token: it is rejected, and no replacement can be drawn.
    CHECK(verify_one(TokenRule{}, invalid, sound, at, 0.0).accepted == 0);
    CHECK(verify_one(TokenRule{}, invalid, sound, at, 0.0).next == invalid_token);
    CHECK(verify_one(TokenRule{}, sound, invalid, at, 0.0).next == invalid_token);
    CHECK(verify_one(LenienceRule{0.5, Residual::literal}, invalid, sound, at, 0.0).next == invalid_token);
    CHECK(verify_one(LenienceRule{0.5, Residual::target}, invalid, sound, at, 0.0).next == invalid_token);
    // Whatever was drafted, the bonus and the replacement are not ids.
    for (Token drafted = 0; drafted < 3; ++drafted) {
      CHECK(verify_one(TokenRule{}, invalid, sound, drafted, just_below_one).next == invalid_token);
      CHECK(verify_one(GreedyLenienceRule{}, invalid, sound, drafted, 0.5).next == invalid_token);
    }
    UniformRandomSource<Given> random(Given{0.5});
    const auto same = [&](std::int32_t) { return row(invalid); };
    CHECK(verify(TokenRule{}, same, same, nullptr, 0, random).next == invalid_token);
    CHECK(verify(GreedyLenienceRule{}, same, same, nullptr, 0, random).next == invalid_token);
  }
}

TEST_CASE("lenience: acceptance min(1, p/(l q)) and the three residuals") {
  const auto target = row(golden_target);
  const auto draft = row(golden_draft);
  CHECK(LenienceRule{0.5}.acceptance(2, target, draft) == doctest::Approx(2.0 / 3));
  CHECK(LenienceRule{0.5}.acceptance(0, target, draft) == 1);
  const auto residual = [&](Residual kind, Token id) {
    return LenienceRule{0.5, kind}.replacement(target, draft)[id];
  };
  CHECK(residual(Residual::target_minus_draft, 0) == doctest::Approx(0.4));
  CHECK(residual(Residual::target_minus_draft, 1) == 0);
  CHECK(residual(Residual::literal, 0) == doctest::Approx(0.45));
  CHECK(residual(Residual::literal, 1) == doctest::Approx(0.15));
  CHECK(residual(Residual::literal, 2) == 0);
  CHECK(residual(Residual::target, 2) == 0.2);
}

TEST_CASE("greedy lenience keeps p >= l max p and otherwise emits the lowest argmax") {
  const std::vector<double> tied{0.2, 0.4, 0.4};
  CHECK(argmax(row(tied)) == 1);
  CHECK(GreedyLenienceRule{0.5}.acceptance(0, row(tied), row(tied)) == 1);
  CHECK(GreedyLenienceRule{0.6}.acceptance(0, row(tied), row(tied)) == 0);
  const Verdict verdict = verify_one(GreedyLenienceRule{1}, tied, golden_draft, 0, 0.5);
  CHECK(verdict.accepted == 0);
  CHECK(verdict.next == 1);
  CHECK(argmax(row({not_a_number, 1})) == invalid_token);
}

TEST_CASE("every rule's acceptance rate is the mean of its acceptance over the draft") {
  const auto target = row(golden_target);
  const auto draft = row(golden_draft);
  const auto check = [&](const auto& rule, double expected) {
    double mean = 0;
    for (Token id = 0; id < 3; ++id) mean += draft[id] * rule.acceptance(id, target, draft);
    CHECK(rule.acceptance_rate(target, draft) == doctest::Approx(mean));
    CHECK(mean == doctest::Approx(expected));
  };
  check(TokenRule{}, 0.6);
  check(LenienceRule{0.5}, 0.8);
  check(GreedyLenienceRule{0.5}, 0.4);
  check(AcceptAllFault{}, 1);
  check(ResampleTargetFault{}, 0.6);
  check(SwappedResidualFault{}, 0.6);
}
