// Compares the exact solution of a small queue with a simulation of the same queue, and policies with the
// least mean latency that any table of gammas has.
#include "tests/serving/queues/batch_queue.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "serving/queues/step_time.hpp"
#include "serving/server/serving.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

BatchQueue small_queue(double per_second) {
  return {.arrivals_per_ms = per_second / 1000,
          .batch = 4,
          .prompt = 20,
          .mean_output = 12,
          .max_gamma = 4,
          .survival = iid_law(0.75).survival,
          .time =
              [](const StepWork& work) {
                return 4 + 0.6 * work.verified + 0.05 * work.prefilled + 0.5 * work.drafts;
              },
          .max_waiting = 60};
}

struct Mean {
  double mean = 0;
  double error = 0;
};

Mean simulated_latency(const BatchQueue& queue, const StepPolicy& policy) {
  ServerOptions options;
  options.engine.max_sequences = queue.batch;
  options.engine.time = queue.time;
  options.policy = policy;
  options.acceptance = RoundLaw{queue.survival};
  const RequestStream stream{PoissonArrivals{1000 * queue.arrivals_per_ms}, FixedLength{queue.prompt},
                             GeometricLength{queue.mean_output}};
  constexpr int runs = 30;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const ServingRun run = serve(options, stream, {5000, 500, 200}, test_seed(31) + i);
    double latency = 0;
    for (std::size_t j = 0; j < run.served.size(); ++j)
      latency += run.served[j].end_ms - run.requests[j].arrival_ms;
    latency /= static_cast<double>(run.served.size());
    sum += latency;
    squares += latency * latency;
  }
  const double mean = sum / runs;
  return {mean, std::sqrt((squares / runs - mean * mean) / (runs - 1))};
}

TEST_CASE("the mean latency of a solved queue is the simulated one") {
  for (const std::uint32_t gamma : {0U, 2U, 4U}) {
    CAPTURE(gamma);
    const BatchQueue queue = small_queue(35);
    const QueueSolution exact = evaluate(queue, constant_gamma(queue, gamma));
    CHECK(exact.turned_away < 1e-6);
    const Mean found = simulated_latency(queue, FixedGamma{gamma});
    CAPTURE(exact.latency_ms);
    CAPTURE(found.mean);
    // For 30 runs, Student's t with 29 degrees of freedom is 11.3 at 2.6e-12.
    CHECK(std::abs(found.mean - exact.latency_ms) < 11.3 * found.error);
    CHECK(std::abs(found.mean - 1.15 * exact.latency_ms) > 11.3 * found.error);
  }
}

/// Returns the table of gammas by decoding requests; the last also holds beyond.
GammaByState by_batch(const BatchQueue& queue, const std::vector<std::uint32_t>& gammas) {
  GammaByState table = constant_gamma(queue, 0);
  for (std::size_t decoding = 1; decoding < table.size(); ++decoding)
    table[decoding].assign(queue.max_waiting + 1, gammas[std::min(decoding, gammas.size()) - 1]);
  return table;
}

TEST_CASE("no table has a lower latency than the optimum, which drafts less under load") {
  for (const double rate : {10.0, 40.0, 60.0}) {
    CAPTURE(rate);
    const BatchQueue queue = small_queue(rate);
    const QueueSolution best = min_latency(queue);
    for (std::uint32_t gamma = 0; gamma <= queue.max_gamma; ++gamma)
      CHECK(evaluate(queue, constant_gamma(queue, gamma)).latency_ms >= best.latency_ms * (1 - 1e-9));
    CHECK(best.gamma[1][0] >= best.gamma[4][0]);
  }
}

/// Returns the server of configs/serving/policies.json.
BatchQueue served_queue(double per_second) {
  return {.arrivals_per_ms = per_second / 1000,
          .batch = 8,
          .prompt = 100,
          .mean_output = 64,
          .max_gamma = 6,
          .survival = iid_law(0.75).survival,
          .time = step_time(LinearStep{.step = 6, .position = 0.7, .prompt_token = 0.02, .draft_run = 0.4}),
          .max_waiting = 60};
}

TEST_CASE("a table by batch has the exact latency, and goodput comes near the optimum") {
  BatchQueue queue = small_queue(40);
  const double exact = evaluate(queue, by_batch(queue, {3, 2, 1})).latency_ms;
  const Mean table = simulated_latency(queue, GammaTable{{{1, 0, 3}, {2, 0, 2}, {4, 0, 1}}});
  CHECK(std::abs(table.mean - exact) < 11.3 * table.error);
  CHECK(exact >= min_latency(queue).latency_ms);
  queue = served_queue(5);
  const double best = min_latency(queue).latency_ms;
  const Mean goodput = simulated_latency(queue, GoodputGamma{.most = 6, .time = queue.time});
  CHECK(goodput.mean > best - 11.3 * goodput.error);
  CHECK(goodput.mean < 1.03 * best);
}

TEST_CASE("the percentages above the optimum in docs/serving.md are those of configs/serving/policies.json") {
  const BatchQueue queue = served_queue(3);
  const double best = min_latency(queue).latency_ms;
  const auto above = [&](const std::vector<std::uint32_t>& gammas) {
    return 100 * (evaluate(queue, by_batch(queue, gammas)).latency_ms / best - 1);
  };
  CHECK(std::abs(above({0}) - 64) < 0.6);
  CHECK(std::abs(above({6}) - 19) < 0.6);
  CHECK(std::abs(above({4, 3, 2, 2, 2, 2, 1}) - 0.2) < 0.06);
}

TEST_CASE("a batch of one that is never full is M/G/1") {
  BatchQueue queue = small_queue(3);
  queue.batch = 1;
  queue.time = [](const StepWork&) { return 5.0; };
  const QueueSolution exact = evaluate(queue, constant_gamma(queue, 0));
  const double mean = 5 * 12;
  const double second = 25 * (2 * 144 - 12.0);
  const double wait = queue.arrivals_per_ms * second / (2 * (1 - queue.arrivals_per_ms * mean));
  CHECK(exact.latency_ms == doctest::Approx(wait + mean).epsilon(1e-6));
  CHECK(exact.utilisation == doctest::Approx(queue.arrivals_per_ms * mean).epsilon(1e-6));
}

}  // namespace
