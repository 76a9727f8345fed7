// Tests drafts on their own device: compares the likeliest outcomes with sorting all of them, and one
// sequence with the schedule.
#include "serving/server/draft_device.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "serving/server/serving.hpp"
#include "sim/schedules/asynchronous.hpp"
#include "tests/bounds.hpp"

namespace speclab {
namespace {

constexpr std::uint32_t gamma = 4;

DraftDevice device_of(std::vector<std::vector<double>> hit, double draft_run) {
  return {.hit = std::move(hit),
          .target = [](const StepWork&) { return 1.0; },
          .draft = [draft_run](const StepWork& work) { return draft_run * work.drafts; }};
}

ServerOptions server_of(DraftDevice device, double alpha) {
  ServerOptions options;
  options.engine.draft_device = std::move(device);
  options.policy = FixedGamma{gamma};
  options.acceptance = iid_law(alpha);
  return options;
}

TEST_CASE("the likeliest outcomes are those of the largest products") {
  const std::vector<double> ranks{0.6, 0.2, 0.1, 0.03};
  const RoundLaw law = iid_law(0.7);
  std::vector<double> products;
  std::vector<double> accepted;
  for (std::uint32_t k = 0; k <= gamma; ++k) {
    accepted.push_back((k == 0 ? 1 : law.survival[k - 1]) - (k == gamma ? 0 : law.survival[k]));
    for (const double rank : ranks) products.push_back(accepted[k] * rank);
  }
  std::sort(products.begin(), products.end(), std::greater<>());
  for (const std::uint32_t outcomes : {1U, 5U, 12U, 20U, 100U}) {
    CAPTURE(outcomes);
    const auto count = static_cast<std::ptrdiff_t>(std::min<std::size_t>(outcomes, products.size()));
    const std::vector<double> hit = likeliest_hits(law, ranks, outcomes, gamma)[gamma];
    CHECK(std::inner_product(accepted.begin(), accepted.end(), hit.begin(), 0.0) ==
          doctest::Approx(std::accumulate(products.begin(), products.begin() + count, 0.0)));
  }
  // In a round without drafts, 0 is the only number of accepted tokens.
  CHECK(likeliest_hits(law, ranks, 2, gamma)[0][0] == doctest::Approx(0.8));
  CHECK(equal_hits(0.3, gamma)[2] == std::vector<double>(3, 0.3));
}

TEST_CASE("certain outcomes take no time of the target, and impossible ones all of it") {
  const RequestStream stream{ClosedLoop{3}, FixedLength{10}, FixedLength{21}};
  const auto window = [&](double hit, double draft_run, bool plain) {
    DraftDevice device = device_of(equal_hits(hit, gamma), draft_run);
    device.plain_after_miss = plain;
    return serve(server_of(device, 1), stream, {9, 0, 0}, 1).window_ms;
  };
  // Three waves of requests. Each has a step for the prompt, and then four rounds of five tokens or twenty
  // steps of one token.
  CHECK(window(1, 0.2, false) == doctest::Approx(3 * 5));
  CHECK(window(0, 0.2, false) == doctest::Approx(3 * (1 + 4 * 1.8)));
  CHECK(window(0, 0.2, true) == doctest::Approx(3 * 21));
  // If drafting takes longer than a target run, the target waits.
  CHECK(window(1, 0.5, false) == doctest::Approx(3 * (1 + 4 * 2)));
}

TEST_CASE("one sequence is as fast as the schedule") {
  // Null: both have the same ratio of tokens to time. Each is a mean over runs with different seeds. A
  // difference of 8 standard errors has a probability below 1e-11 with 62 degrees of freedom.
  constexpr std::uint32_t tokens = 20000;
  constexpr int runs = 32;
  struct Speeds {
    double mean;
    double squared_error;
  };
  const auto speeds = [&](const std::function<double(std::uint64_t seed)>& of) {
    double sum = 0;
    double squares = 0;
    for (std::uint64_t i = 0; i < runs; ++i) {
      const double speed = of(test_seed(71) + i);
      sum += speed;
      squares += speed * speed;
    }
    const double mean = sum / runs;
    return Speeds{mean, (squares / runs - mean * mean) / (runs - 1)};
  };
  const RequestStream stream{ClosedLoop{1}, FixedLength{1}, FixedLength{tokens}};
  for (const bool plain : {false, true}) {
    for (const double draft_run : {0.1, 0.4}) {
      CAPTURE(plain);
      CAPTURE(draft_run);
      DraftDevice device = device_of(equal_hits(0.7, gamma), draft_run);
      device.plain_after_miss = plain;
      const Speeds served = speeds([&](std::uint64_t seed) {
        return tokens / serve(server_of(device, 0.75), stream, {1, 0, 0}, seed).window_ms;
      });
      const auto scheduled = [&](double hit) {
        return speeds([&](std::uint64_t seed) {
          const AcceptanceBits bits = iid_acceptances(0.75, seed, 0, tokens + 64);
          NoEvents none;
          const Elapsed elapsed =
              run_schedule(Asynchronous{gamma, draft_run, hit, plain}, {bits, tokens, seed, 0}, none);
          return static_cast<double>(elapsed.tokens) / elapsed.time;
        });
      };
      const auto apart = [&](const Speeds& other) {
        return std::abs(served.mean - other.mean) > 8 * std::sqrt(served.squared_error + other.squared_error);
      };
      CHECK_FALSE(apart(scheduled(0.7)));
      // Power: another hit probability is told apart.
      CHECK(apart(scheduled(0.75)));
    }
  }
}

}  // namespace
}  // namespace speclab
