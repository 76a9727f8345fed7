// Compares the exact solution of a small queue with a simulation of the same queue.
#include "serving/queues/batch_queue.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "serving/server/serving.hpp"
#include "tests/bounds.hpp"

namespace speclab {
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

TEST_CASE(
    "no table of constant gamma has a lower latency than the optimum, and the optimum drafts less under load") {
  for (const double rate : {10.0, 40.0, 60.0}) {
    CAPTURE(rate);
    const BatchQueue queue = small_queue(rate);
    const QueueSolution best = min_latency(queue);
    for (std::uint32_t gamma = 0; gamma <= queue.max_gamma; ++gamma)
      CHECK(evaluate(queue, constant_gamma(queue, gamma)).latency_ms >= best.latency_ms * (1 - 1e-9));
    CHECK(best.gamma[1][0] >= best.gamma[4][0]);
    const Mean found = simulated_latency(queue, GammaByStateTable{best.gamma});
    CHECK(std::abs(found.mean - best.latency_ms) < 11.3 * found.error);
  }
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
}  // namespace speclab
