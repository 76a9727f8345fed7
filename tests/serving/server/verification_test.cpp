// Tests adaptive verification: that confidences are calibrated, that no other budget is better, and the
// extremes, where it equals a fixed gamma or verifies no token that is rejected.
#include "serving/server/verification.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "core/random/philox.hpp"
#include "serving/server/serving.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

constexpr std::uint32_t block = 5;

/// Drafting a block costs the same however many of its tokens are verified.
StepTime block_time(double step, double position) {
  return [step, position](const StepWork& work) {
    return step + position * work.verified + 0.01 * work.prefilled + (work.drafts > 0 ? 1 : 0);
  };
}

ServerOptions verifying_server(StepPolicy policy, AcceptanceLaw law, const StepTime& time) {
  ServerOptions options;
  options.engine.max_sequences = 8;
  options.engine.time = time;
  options.policy = std::move(policy);
  options.acceptance = std::move(law);
  return options;
}

AdaptiveVerification adaptive(double correlation, const AcceptanceLaw& law, const StepTime& time,
                              bool waits) {
  return {.gamma = block,
          .confidence = ConfidenceLaw(correlation, position_rates(law, block)),
          .waits = waits,
          .time = time};
}

const RequestStream eight{ClosedLoop{8}, FixedLength{20}, FixedLength{300}};

ServingRun served(const StepPolicy& policy, const AcceptanceLaw& law, const StepTime& time) {
  return serve(verifying_server(policy, law, time), eight, {64, 0, 0}, test_seed(81));
}

TEST_CASE("classes of confidences have the mean and the correlation of their law") {
  for (const double rate : {0.02, 0.3, 0.7, 0.95}) {
    for (const double correlation : {0.05, 0.3, 0.6, 0.9, 0.999, 0.999999}) {
      CAPTURE(rate);
      CAPTURE(correlation);
      const std::vector<double> means = confidence_classes(correlation, rate);
      const auto size = static_cast<double>(means.size());
      const double mean = std::accumulate(means.begin(), means.end(), 0.0) / size;
      double squares = 0;
      for (const double one : means) squares += (one - mean) * (one - mean) / size;
      CHECK(mean == doctest::Approx(rate).epsilon(1e-9));
      CHECK(std::is_sorted(means.begin(), means.end()));
      const double found = std::sqrt(squares / (rate * (1 - rate)));
      CHECK(found <= correlation * (1 + 1e-9));
      // If nearly all or nearly no tokens are accepted, the law has a long tail in its last class.
      const bool skewed = rate < 0.1 || rate > 0.9;
      CHECK(found >= correlation * (skewed ? 0.9 : 0.99));
    }
  }
}

TEST_CASE("a confidence is the probability of acceptance, of every length") {
  // Null: among rounds with survival s, a share of s accepts that many tokens. Sums of (accepted - s), in
  // four classes of s and at every position, must be within 7 standard deviations of the null.
  const RoundLaw law = position_law(std::vector<double>{0.8, 0.6, 0.9, 0.3, 0.5});
  const AcceptanceDraws draws(law, test_seed(82));
  const ConfidenceLaw confidences(0.6, position_rates(law, block));
  const auto worst = [&](std::uint32_t shift) {
    std::vector<double> sums(block * 4);
    std::vector<double> variances(block * 4);
    std::vector<double> survival(block);
    for (std::uint32_t round = 0; round < 100000; ++round) {
      const std::uint32_t accepted = draws.accepted({}, 0, round, block);
      confidences.survival(test_seed(82), 0, round, draws.accepted({}, 0, round + shift, block), survival);
      for (std::uint32_t j = 0; j < block; ++j) {
        const std::size_t bin = j * 4 + static_cast<std::size_t>(std::min(3.0, 4 * survival[j]));
        sums[bin] += (accepted > j ? 1 : 0) - survival[j];
        variances[bin] += survival[j] * (1 - survival[j]);
      }
    }
    double most = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (variances[i] > 25) most = std::max(most, std::abs(sums[i]) / std::sqrt(variances[i]));
    }
    return most;
  };
  CHECK(worst(0) < 7);
  // Planted: the confidences of another round.
  CHECK(worst(1) > 20);
}

TEST_CASE("the budget is the best of all") {
  Philox words(test_seed(83), Site{0, 0, Draw{Use::world, 0}});
  for (int i = 0; i < 200; ++i) {
    std::vector<double> scores;
    double score = 1;
    for (int j = 0; j < 12; ++j) scores.push_back(score *= 0.5 + 0.5 * open_unit(words()));
    const double step = 10 * open_unit(words());
    // The time rises in steps, as for engines that pad to the next captured graph.
    const StepTime time = [&](const StepWork& work) { return step + std::ceil(work.verified / 4); };
    StepWork plain;
    plain.decoding = plain.verified = 3;
    const std::size_t budget = verification_budget(scores, 3, plain, time);
    const auto speed = [&](std::size_t size) {
      StepWork work = plain;
      work.verified += static_cast<double>(size);
      return std::accumulate(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(size), 3.0) /
             time(work);
    };
    for (std::size_t size = 0; size <= scores.size(); ++size) REQUIRE(speed(budget) >= speed(size));
  }
}

TEST_CASE("confidences that say nothing are a fixed gamma") {
  // All positions cost the same, so tokens per millisecond are best at the edge of a position: all sequences
  // have the same number of verified tokens. Costs per sequence make that number the same for every batch.
  // One wave of requests has no step with both prompts and drafts.
  const RoundLaw law = position_law(std::vector<double>{0.8, 0.7, 0.6, 0.5, 0.4});
  for (const double position : {0.01, 0.12, 0.3, 0.7, 3.0}) {
    CAPTURE(position);
    const StepTime time = [position](const StepWork& work) {
      return 0.9 * work.decoding + position * work.verified + 0.01 * work.prefilled;
    };
    std::uint32_t best = 0;
    double best_speed = 0;
    for (std::uint32_t one = 0; one <= block; ++one) {
      const double speed = (1 + mean_accepted(law, one)) / (0.9 + position * (one + 1));
      if (speed > best_speed) {
        best_speed = speed;
        best = one;
      }
    }
    CAPTURE(best);
    const auto wave = [&](const StepPolicy& policy) {
      return serve(verifying_server(policy, law, time), eight, {8, 0, 0}, test_seed(81));
    };
    const ServingRun fixed = wave(FixedGamma{best});
    const ServingRun found = wave(adaptive(0, law, time, true));
    CHECK(found.totals.verified == best * found.totals.decoding);
    CHECK(found.totals.drafted == block * found.totals.decoding);
    CHECK(found.totals.accepted == fixed.totals.accepted);
    for (std::size_t i = 0; i < found.served.size(); ++i)
      REQUIRE(found.served[i].end_ms == doctest::Approx(fixed.served[i].end_ms).epsilon(1e-12));
    // Confidences of the previous step are the same, except for a request's first drafts, which have none:
    // each of these counts as accepted.
    const ServingRun old = wave(adaptive(0, law, time, false));
    const std::uint64_t first = 6 / (0.9 + position * 6) > 1 / (0.9 + position) ? block : 0;
    CHECK(old.totals.verified == best * (old.totals.decoding - 8) + 8 * first);
    // Planted: informative confidences give another policy.
    if (best > 0 && best < block)
      CHECK(wave(adaptive(0.5, law, time, true)).totals.verified != best * found.totals.decoding);
  }
}

TEST_CASE("confidences that say all leave nothing to reject, unless they are a step old") {
  const RoundLaw law = iid_law(0.7);
  const StepTime time = block_time(6, 0.2);
  const ServingRun now = served(adaptive(1, law, time, true), law, time);
  CHECK(now.totals.verified == now.totals.accepted);
  CHECK(now.totals.accepted > now.totals.decoding);
  // Every accepted token is worth the cost of its position here, so no engine is faster than the clairvoyant.
  const StepTime free = [](const StepWork& work) { return 6 + 0.2 * work.verified + 0.01 * work.prefilled; };
  CHECK(served(adaptive(1, law, free, true), law, free).window_ms ==
        doctest::Approx(served(Clairvoyant{block, free}, law, free).window_ms).epsilon(1e-12));
  // The budget of the step before is too large or too small for this step.
  const ServingRun old = served(adaptive(1, law, time, false), law, time);
  CHECK(old.totals.verified > 1.03 * static_cast<double>(old.totals.accepted));
  CHECK(old.window_ms > 1.01 * now.window_ms);
  // It is still better than uninformative confidences.
  CHECK(old.window_ms < served(adaptive(0, law, time, true), law, time).window_ms);
}

/// A pair of models whose rows do not depend on the context. The draft's confidence in a token x is exact:
/// min(1, target[x] / draft[x]).
struct ExactPair {
  std::vector<double> target;
  std::vector<double> draft;

  double accepts(std::size_t token) const { return std::min(1.0, target[token] / draft[token]); }

  /// Returns all drafts of two tokens, with all their outcomes.
  std::vector<RecordedRounds::Round> rounds() const {
    std::vector<RecordedRounds::Round> all;
    for (std::size_t x = 0; x < draft.size(); ++x) {
      for (std::size_t y = 0; y < draft.size(); ++y) {
        const double drafted = draft[x] * draft[y];
        const std::vector<float> said{static_cast<float>(accepts(x)), static_cast<float>(accepts(y))};
        all.push_back({0, said, drafted * (1 - accepts(x))});
        all.push_back({1, said, drafted * accepts(x) * (1 - accepts(y))});
        all.push_back({2, said, drafted * accepts(x) * accepts(y)});
      }
    }
    return all;
  }
};

TEST_CASE("the confidences of an exact pair give the speed that its rounds have one by one") {
  const ExactPair pair{{0.5, 0.3, 0.2}, {0.2, 0.3, 0.5}};
  const StepTime time = block_time(1, 0.8);
  /// Returns the tokens per millisecond of one sequence in the long run.
  const auto expected = [&](const ExactPair& of, bool waits) {
    double tokens = 0;
    double ms = 0;
    for (const auto& before : of.rounds()) {
      for (const auto& round : of.rounds()) {
        const auto& sized = waits ? round.confidences : before.confidences;
        std::size_t budget = 0;
        double best = 0;
        for (std::size_t b = 0; b <= 2; ++b) {
          double sum = 1;
          double power = 1;
          for (std::size_t j = 0; j < b; ++j) sum += power *= static_cast<double>(sized[j]);
          const double speed = sum / (2 + 0.8 * static_cast<double>(b + 1));
          if (speed > best) {
            best = speed;
            budget = b;
          }
        }
        const double weight = before.weight * round.weight;
        tokens += weight * (1 + std::min<double>(round.accepted, static_cast<double>(budget)));
        ms += weight * (2 + 0.8 * static_cast<double>(budget + 1));
      }
    }
    return tokens / ms;
  };
  for (const bool waits : {true, false}) {
    CAPTURE(waits);
    const AcceptanceLaw law = recorded_rounds(pair.rounds());
    CHECK(mean_accepted(law, 2) == doctest::Approx(0.7 + 0.49));
    // Null: the mean of 32 runs is the enumerated speed. 8 standard errors have a probability below 1e-8.
    double sum = 0;
    double squares = 0;
    constexpr int runs = 32;
    for (int i = 0; i < runs; ++i) {
      ServerOptions options =
          verifying_server(AdaptiveVerification{.gamma = 2, .waits = waits, .time = time}, law, time);
      const ServingRun run = serve(options, {ClosedLoop{1}, FixedLength{1}, FixedLength{20000}}, {1, 0, 0},
                                   test_seed(84) + static_cast<std::uint64_t>(i));
      const double speed = static_cast<double>(run.totals.emitted) / run.window_ms;
      sum += speed;
      squares += speed * speed;
    }
    const double mean = sum / runs;
    const double error = std::sqrt((squares / runs - mean * mean) / (runs - 1));
    CHECK(std::abs(mean - expected(pair, waits)) < 8 * error);
    // Power: confidences of the other age, and a slightly different pair, are told apart.
    CHECK(std::abs(mean - expected(pair, !waits)) > 8 * error);
    CHECK(std::abs(mean - expected({{0.5, 0.3, 0.2}, {0.2, 0.28, 0.52}}, waits)) > 8 * error);
  }
}

}  // namespace
