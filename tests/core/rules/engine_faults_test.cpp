// Tests closed forms of faults in the use of random numbers, by sampling the faulty procedure itself.
#include "core/rules/engine_faults.hpp"

#include <doctest/doctest.h>

#include <boost/random/exponential_distribution.hpp>
#include <cmath>
#include <vector>

#include "core/random/enumerated_random_source.hpp"
#include "core/rules/step_faults.hpp"
#include "tests/bounds.hpp"
#include "tests/core/rules/golden_pair.hpp"

using namespace speclab;

namespace {

constexpr std::uint32_t sampled_rounds = 200000;

/// Drafts gamma tokens from one row, verifies them with one row, and visits every branch.
template <class Rule, class Visit>
void follow_rounds(const Rule& rule, const std::vector<double>& target, const std::vector<double>& draft,
                   std::int32_t gamma, const Visit& visit) {
  struct Followed {
    std::vector<Token> drafted;
    Verdict verdict;
  };
  const auto program = [&](auto& random) {
    Followed followed{};
    for (std::int32_t i = 0; i < gamma; ++i) {
      const Draw draw{Use::draft, static_cast<std::uint16_t>(i)};
      followed.drafted.push_back(random.categorical(draw, row(draft)));
    }
    followed.verdict = verify(
        rule, [&](std::int32_t) { return row(target); }, [&](std::int32_t) { return row(draft); },
        followed.drafted.data(), gamma, random);
    return followed;
  };
  enumerate<double>(program, visit);
}

}  // namespace

TEST_CASE("reused Gumbel noise: the coupling is an argmin over the exponentials that drew the token") {
  // Null: counts of the emitted token are binomial with the enumerated distribution; seven sigmas. With
  // separate noise the correction is that of Algorithm 1, which the same counts refute.
  const std::vector<double> target{0.5, 0.25, 0.05, 0.2};
  const std::vector<double> draft{0.1, 0.2, 0.6, 0.1};
  std::vector<double> law(4);
  follow_rounds(ReusedGumbelFault{}, target, draft, 1, [&](const auto& round, double probability) {
    const Token first = round.verdict.accepted > 0 ? round.drafted.front() : round.verdict.next;
    law[static_cast<std::size_t>(first)] += probability;
  });
  std::vector<double> counts(4);
  for (std::uint32_t trial = 0; trial < sampled_rounds; ++trial) {
    Philox stream(test_seed(31), Site{trial, 0, Draw{Use::world, 0}});
    boost::random::exponential_distribution<double> exponential;
    std::vector<double> noise(4);
    for (double& value : noise) value = exponential(stream);
    const auto argmin = [&](const auto& weight) {
      std::size_t best = 4;
      for (std::size_t id = 0; id < 4; ++id) {
        if (weight(id) > 0 && (best == 4 || noise[id] / weight(id) < noise[best] / weight(best))) best = id;
      }
      return best;
    };
    const std::size_t drafted = argmin([&](std::size_t id) { return draft[id]; });
    const bool accepted = open_unit(stream()) < target[drafted] / draft[drafted];
    const std::size_t emitted =
        accepted ? drafted : argmin([&](std::size_t id) { return std::max(target[id] - draft[id], 0.0); });
    counts[emitted] += 1;
  }
  bool told_apart = false;
  for (std::size_t id = 0; id < 4; ++id) {
    CAPTURE(id);
    CHECK(count_agrees(counts[id], sampled_rounds, law[id]));
    told_apart = told_apart || !count_agrees(counts[id], sampled_rounds, target[id]);
  }
  CHECK(told_apart);
}

TEST_CASE("a repeated uniform: the closed form is one number compared with all ratios") {
  // Null: as above, for the number of accepted tokens. Separate uniforms are detected.
  const std::vector<double> target = golden_target;
  const std::vector<double> draft = golden_draft;
  constexpr std::int32_t gamma = 3;
  std::vector<double> law(gamma + 1);
  std::vector<double> independent(gamma + 1);
  const auto accepted_by = [&](const auto& rule, std::vector<double>& lengths) {
    follow_rounds(rule, target, draft, gamma, [&](const auto& round, double probability) {
      lengths[static_cast<std::size_t>(round.verdict.accepted)] += probability;
    });
  };
  accepted_by(StepFault{WrongStep::repeated_uniform}, law);
  accepted_by(TokenRule{}, independent);
  std::vector<double> counts(gamma + 1);
  for (std::uint32_t trial = 0; trial < sampled_rounds; ++trial) {
    Philox stream(test_seed(32), Site{trial, 0, Draw{Use::world, 0}});
    const double uniform = open_unit(stream());
    std::size_t accepted = 0;
    for (; accepted < gamma; ++accepted) {
      const auto drafted = static_cast<std::size_t>(inverse_cdf(row(draft), open_unit(stream())));
      if (!(uniform < target[drafted] / draft[drafted])) break;
    }
    counts[accepted] += 1;
  }
  bool told_apart = false;
  for (std::size_t length = 0; length <= gamma; ++length) {
    CAPTURE(length);
    CHECK(count_agrees(counts[length], sampled_rounds, law[length]));
    told_apart = told_apart || !count_agrees(counts[length], sampled_rounds, independent[length]);
  }
  CHECK(told_apart);
}

TEST_CASE("a draft that is filtered draws the likeliest tokens alone, in their proportions") {
  const std::vector<double> probabilities{0.2, 0.5, 0.3};
  const OwnedRow<double> kept = UnfilteredDraftFault{}.drawn_from(row(probabilities));
  CHECK(kept.probabilities == std::vector<double>{0, 0.5, 0.3});
  const auto rows = [&](std::int32_t) { return row(probabilities); };
  const auto bonus = StepFault{WrongStep::filtered_bonus}.bonus(rows, rows, 1);
  CHECK(bonus[0] == 0);
  CHECK(bonus[1] == 0.5);
  CHECK(bonus[2] == 0.3);
}
