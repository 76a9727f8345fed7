// Tests every gamma policy against hand calculations, and on independent acceptances, where the best gamma is
// known.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "core/random/philox.hpp"
#include "sim/policies/adaedl.hpp"
#include "sim/policies/any_policy.hpp"
#include "sim/policies/bandit.hpp"
#include "sim/policies/confidence.hpp"
#include "sim/policies/fixed.hpp"
#include "sim/policies/goodput.hpp"
#include "sim/policies/heuristic.hpp"
#include "sim/policies/specdec_pp.hpp"

using namespace speclab;

namespace {

/// Returns the number of tokens that a policy drafts in a round of a drafter with these rows; the last row is
/// repeated, and the drafter always draws token `drawn`.
template <class Policy>
std::int32_t drafted(const Policy& policy, typename Policy::Memory& memory,
                     const std::vector<std::vector<double>>& rows, Token drawn = 0) {
  LastDrafted<double> last;
  std::int32_t count = 0;
  while (count < policy.most() && policy.goes_on(memory, count, last)) {
    const auto& row = rows[std::min(static_cast<std::size_t>(count), rows.size() - 1)];
    last = {Row{row.data(), static_cast<std::int32_t>(row.size())}, drawn};
    ++count;
  }
  return count;
}

Round round_of(std::int32_t drafted, std::int32_t accepted) {
  return {drafted, drafted, std::min(accepted + 1, drafted), accepted, 0};
}

const std::vector<double> sure{0.9, 0.05, 0.05};
const std::vector<double> unsure{0.4, 0.3, 0.3};

/// Runs rounds whose drafts are accepted with probability alpha; returns how often each gamma was used in the
/// second half.
template <class Policy>
std::vector<int> play(const Policy& policy, double alpha, std::uint32_t rounds) {
  typename Policy::Memory memory;
  std::vector<int> played(static_cast<std::size_t>(policy.most()) + 1);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::int32_t gamma = drafted(policy, memory, {unsure});
    std::int32_t kept = 0;
    Philox coins(5, Site{1, round, Draw{Use::world, 7}});
    while (kept < gamma && open_unit(coins()) < alpha) ++kept;
    policy.learn(memory, round_of(gamma, kept));
    if (round >= rounds / 2) ++played[static_cast<std::size_t>(gamma)];
  }
  return played;
}

RoundTimes times_of(double c) {
  RoundTimes times;
  for (int k = 0; k <= 16; ++k) times.times.push_back(1 + c * k);
  return times;
}

/// Returns the best gamma by Theorem 3.8, term by term.
int best_gamma(double alpha, double c, int most) {
  int best = 0;
  double best_speed = 0;
  double tokens = 1;
  double reach = 1;
  for (int gamma = 1; gamma <= most; ++gamma) {
    tokens += reach *= alpha;
    if (tokens / (1 + c * gamma) > best_speed) {
      best_speed = tokens / (1 + c * gamma);
      best = gamma;
    }
  }
  return best;
}

}  // namespace

TEST_CASE("fixed: as many as asked for") {
  FixedPolicy::Memory memory;
  CHECK(drafted(FixedPolicy(0), memory, {sure}) == 0);
  CHECK(drafted(FixedPolicy(7), memory, {unsure}) == 7);
}

TEST_CASE("heuristic: two more after a clean round, one fewer after any other, between 1 and the cap") {
  const HeuristicPolicy policy(3, 6);
  HeuristicPolicy::Memory memory;
  std::vector<int> played;
  for (const int rejections : {0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0}) {
    const std::int32_t gamma = drafted(policy, memory, {sure});
    played.push_back(gamma);
    policy.learn(memory, round_of(gamma, gamma - rejections));
  }
  CHECK(played == std::vector<int>{3, 5, 6, 6, 5, 4, 3, 2, 1, 1, 1});
  CHECK(drafted(policy, memory, {sure}) == 3);
  // A drafter that ran out of tokens does not raise gamma.
  policy.learn(memory, round_of(2, 2));
  CHECK(drafted(policy, memory, {sure}) == 3);
}

TEST_CASE("confidence: stops after the first token that is not sure enough") {
  ConfidencePolicy::Memory memory;
  CHECK(drafted(ConfidencePolicy(0.5, Confidence::top, 9), memory, {sure, sure, unsure}) == 3);
  CHECK(drafted(ConfidencePolicy(0.4, Confidence::top, 9), memory, {sure, unsure}) == 9);
  CHECK(drafted(ConfidencePolicy(0.5, Confidence::top, 9), memory, {sure}, 1) == 9);
  CHECK(drafted(ConfidencePolicy(0.5, Confidence::drawn, 9), memory, {sure}, 1) == 1);
}

TEST_CASE("entropy: in nats, of the whole row, and the bound made of it") {
  const std::vector<double> even(8, 0.125);
  const std::vector<double> point{0, 1, 0};
  CHECK(entropy(Row{even.data(), 8}) == doctest::Approx(std::log(8.0)).epsilon(1e-15));
  CHECK(entropy(Row{point.data(), 3}) == 0);
  AdaEdlPolicy::Memory memory;
  const double bound = 1 - std::sqrt(0.2 * std::log(8.0));
  CHECK(drafted(AdaEdlPolicy(0.2, bound - 1e-12, 5), memory, {point, even}) == 5);
  CHECK(drafted(AdaEdlPolicy(0.2, bound + 1e-12, 5), memory, {point, point, even}) == 3);
}

TEST_CASE("product: learns how often tokens of each mass are kept") {
  const SpecDecPpPolicy policy(0.5, 8);
  SpecDecPpPolicy::Memory memory;
  // Nothing is known: every token counts as certain to be accepted.
  CHECK(drafted(policy, memory, {sure}) == 8);
  CHECK(memory.all_accepted == 1);
  // Six of eight tokens of probability .4 (bucket 1) were accepted: (6 + 2) / (8 + 2) each.
  for (int i = 0; i < 4; ++i) {
    drafted(policy, memory, {unsure});
    policy.learn(memory, {8, 8, 2, i < 2 ? 2 : 1, 0});
  }
  CHECK(memory.examined[1] == 8);
  CHECK(memory.accepted[1] == 6);
  // .8^3 = .512 leaves a risk of .488, and .8^4 one of .59.
  CHECK(drafted(policy, memory, {unsure}) == 4);
  // Tokens of probability .9 (bucket 0) still count as certain.
  CHECK(drafted(policy, memory, {sure}) == 8);
}

TEST_CASE("goodput finds the gamma of Theorem 3.8 on independent coins, or a neighbour of it") {
  for (const double alpha : {0.5, 0.8}) {
    for (const double c : {0.02, 0.1}) {
      const std::vector<int> played = play(GoodputPolicy(times_of(c), 16), alpha, 20000);
      const int best = best_gamma(alpha, c, 16);
      int near = 0;
      for (int gamma = std::max(1, best - 1); gamma <= best + 1; ++gamma) {
        near += played[static_cast<std::size_t>(gamma)];
      }
      INFO(alpha, " ", c, " ", best);
      CHECK(near > 9000);
      CHECK(played[0] == 0);
    }
  }
}

TEST_CASE("goodput by hand: rates by position, drawn to the rate of all") {
  const GoodputPolicy policy({{1, 1.5, 2, 2.5}}, 3);
  GoodputPolicy::Memory memory;
  // Nothing is known: the rate is 1/2 everywhere, and 1.5/1.5 > 1.75/2.
  CHECK(drafted(policy, memory, {sure}) == 1);
  for (int i = 0; i < 8; ++i) policy.learn(memory, round_of(2, 2));
  CHECK(memory.examined == std::vector<std::int64_t>{8, 8});
  // The common rate is 17/18, that of positions 1 and 2 (8 + 16 * 17/18) / 24 = .963: 1.963/1.5 < 2.89/2 <
  // 3.767/2.5.
  CHECK(drafted(policy, memory, {sure}) == 3);
}

TEST_CASE("bandit: tries every arm once, then plays the best most") {
  const BanditPolicy policy(times_of(0.15), 8, 0.1);
  BanditPolicy::Memory memory;
  for (int arm = 1; arm <= 8; ++arm) {
    CHECK(drafted(policy, memory, {sure}) == arm);
    policy.learn(memory, round_of(arm, 0));
  }
  const std::vector<int> played = play(policy, 0.7, 40000);
  const auto most = std::max_element(played.begin(), played.end()) - played.begin();
  CHECK(std::abs(static_cast<int>(most) - best_gamma(0.7, 0.15, 8)) <= 1);
  CHECK(played[8] < played[static_cast<std::size_t>(most)] / 4);
}

TEST_CASE("upper bound: only what was accepted counts as drafted") {
  const Round seen = foreseen_round({9, 9, 4, 3, 7}, 3);
  CHECK(seen.drafted == 3);
  CHECK(seen.draft_runs == 3);
  CHECK(seen.examined == 3);
  CHECK(seen.accepted == 3);
  CHECK(seen.next == 7);
}

TEST_CASE("any policy decides as the policy it holds, with a memory of its own") {
  const HeuristicPolicy heuristic(2, 9);
  const AnyPolicy any = heuristic;
  HeuristicPolicy::Memory memory;
  AnyPolicy::Memory any_memory;
  for (int round = 0; round < 6; ++round) {
    const std::int32_t gamma = drafted(heuristic, memory, {sure});
    CHECK(drafted(any, any_memory, {sure}) == gamma);
    heuristic.learn(memory, round_of(gamma, round % 3 == 0 ? 0 : gamma));
    any.learn(any_memory, round_of(gamma, round % 3 == 0 ? 0 : gamma));
  }
  CHECK(!any.foresees());
  CHECK(AnyPolicy(UpperBoundPolicy(4)).foresees());
}
