// Compares the serving simulator with queueing theory: waiting times of M/G/1 (Pollaczek 1930, Khinchine
// 1932), the infinite-server queue, closed networks, Little's law, and conservation of tokens.
#include "serving/server/serving.hpp"
#include "serving/server/replica.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "tests/bounds.hpp"

using namespace speclab;

namespace {

StepTime every_step(double ms) {
  return [ms](const StepWork&) { return ms; };
}

ServerOptions one_by_one(std::uint32_t gamma, AcceptanceLaw law) {
  ServerOptions options;
  options.engine.max_sequences = 1;
  options.engine.time = every_step(1);
  options.policy = FixedGamma{gamma};
  options.acceptance = std::move(law);
  return options;
}

struct Mean {
  double mean = 0;
  double error = 0;  ///< standard error, over independent runs
};

/// Returns the mean of `value(run)` over runs with different seeds.
template <class Value>
Mean over_runs(const ServerOptions& options, const RequestStream& stream, const LoadSize& size,
               std::uint64_t seed, int runs, const Value& value) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < runs; ++i) {
    const double x = value(serve(options, stream, size, seed + static_cast<std::uint64_t>(i)));
    sum += x;
    squares += x * x;
  }
  const double mean = sum / runs;
  return {mean, std::sqrt((squares / runs - mean * mean) / (runs - 1))};
}

double mean_wait(const ServingRun& run) {
  double sum = 0;
  // The first token is emitted at the end of the first step, which takes 1 ms.
  for (std::size_t i = 0; i < run.served.size(); ++i)
    sum += run.served[i].first_ms - run.requests[i].arrival_ms - 1;
  return sum / static_cast<double>(run.served.size());
}

/// Returns the mean wait that a server adds if it takes this long to wake (Levy and Kleinrock 1986, M/G/1
/// with set-up times).
double set_up(double arrivals_per_ms, double ms) {
  return (2 * ms + arrivals_per_ms * ms * ms) / (2 * (1 + arrivals_per_ms * ms));
}

double pollaczek_khinchine(double arrivals_per_ms, double mean, double second_moment) {
  return arrivals_per_ms * second_moment / (2 * (1 - arrivals_per_ms * mean));
}

/// Mean and second moment of the number of steps for a request of `output` tokens: one step for the prompt,
/// which emits a token, and rounds until the others are emitted.
struct Moments {
  double mean = 0;
  double second = 0;
};
Moments service(std::uint32_t output, std::uint32_t gamma, const std::vector<double>& survival) {
  std::vector<double> left(output, 0);
  left[output - 1] = 1;
  Moments moments;
  for (std::uint32_t steps = 1;; ++steps) {
    moments.mean += left[0] * steps;
    moments.second += left[0] * steps * steps;
    left[0] = 0;
    std::vector<double> next(output, 0);
    double going = 0;
    for (std::uint32_t n = 1; n < output; ++n) {
      double reached = 1;
      for (std::uint32_t k = 0; k <= gamma; ++k) {
        const double on = k < gamma ? survival[k] : 0;
        next[n - std::min(n, k + 1)] += left[n] * (reached - on);
        reached = on;
      }
      going += left[n];
    }
    if (going == 0) return moments;
    left = next;
  }
}

TEST_CASE("one request at a time waits as Pollaczek and Khinchine say") {
  const LoadSize size{4000, 400, 0};
  struct Case {
    const char* name;
    Length output;
    std::uint32_t gamma;
    double rate;  ///< requests per millisecond
    Moments moments;
    double wake_ms = 0;
  };
  const RoundLaw law = iid_law(0.7);
  const std::vector<Case> cases{
      {"M/D/1", FixedLength{10}, 0, 0.08, {10, 100}},
      {"M/G/1, geometric", GeometricLength{10}, 0, 0.06, {10, 190}},
      {"M/D/1, speculative", FixedLength{30}, 4, 0.07, service(30, 4, law.survival)},
      {"M/D/1 that wakes", FixedLength{10}, 0, 0.05, {10, 100}, 5},
  };
  for (const Case& one : cases) {
    CAPTURE(one.name);
    const RequestStream stream{PoissonArrivals{1000 * one.rate}, FixedLength{5}, one.output};
    ServerOptions options = one_by_one(one.gamma, law);
    options.engine.wake_ms = one.wake_ms;
    const Mean found = over_runs(options, stream, size, test_seed(11), 40, mean_wait);
    CAPTURE(found.mean);
    const double woken = set_up(one.rate, one.wake_ms);
    const double expected = pollaczek_khinchine(one.rate, one.moments.mean, one.moments.second) + woken;
    CAPTURE(expected);
    // For means of 40 runs, Student's t with 39 degrees of freedom is 9.9 at 2.6e-12.
    CHECK(std::abs(found.mean - expected) < 9.9 * found.error);
    // Power: waits for another variance of service times are told apart.
    const double planted = pollaczek_khinchine(one.rate, one.moments.mean, 1.6 * one.moments.second) + woken;
    CHECK(std::abs(found.mean - planted) > 9.9 * found.error);
  }
}

TEST_CASE("without a bound of the batch, so many run as arrive while one is served") {
  // A step takes 1 ms for any batch. A request takes 20 steps, and the number of running requests is Poisson.
  ServerOptions options;
  options.engine.max_sequences = 100000;
  options.engine.step_tokens = 1000000;
  options.engine.time = every_step(1);
  const double rate = 3;
  const RequestStream stream{PoissonArrivals{1000 * rate}, FixedLength{1}, FixedLength{20}};
  const Mean running = over_runs(options, stream, {20000, 1000, 1000}, test_seed(12), 20,
                                 [](const auto& run) { return run.totals.running_ms / run.totals.busy_ms; });
  CHECK(std::abs(running.mean - rate * 20) < 15 * running.error);
  // A request waits for the end of a step, half a step on average.
  const Mean first = over_runs(options, stream, {20000, 1000, 1000}, test_seed(12), 20, mean_wait);
  CHECK(std::abs(first.mean - 0.5) < 15 * first.error);
}

TEST_CASE("a closed network of equal requests is its own arithmetic") {
  ServerOptions options;
  options.engine.max_sequences = 8;
  options.engine.time = [](const StepWork& work) { return 2 + 0.25 * work.verified + 0.01 * work.prefilled; };
  const RequestStream stream{ClosedLoop{8}, FixedLength{100}, FixedLength{11}};
  const ServingRun run = serve(options, stream, {80, 0, 0}, 1);
  // One wave: the prompts in one step, then ten steps of eight tokens.
  const double wave = 2 + 8 + 10 * (2 + 2);
  CHECK(run.window_ms == doctest::Approx(10 * wave));
  CHECK(run.totals.emitted == 80 * 11);
  CHECK(run.served.back().end_ms == doctest::Approx(10 * wave));
}

/// A server with every kind of work: chunks of prompts, a cache that is too small, two replicas, bursts.
ServerOptions crowded() {
  ServerOptions options;
  options.replicas = 2;
  options.engine.max_sequences = 16;
  options.engine.step_tokens = 96;
  options.engine.cache_blocks = 60;
  options.engine.block_tokens = 8;
  options.engine.time = [](const StepWork& work) {
    return 1 + 0.02 * work.verified + 0.01 * work.prefilled + 0.2 * work.drafts;
  };
  options.policy = FixedGamma{3};
  options.acceptance = BetaLaw{4, 2};
  return options;
}
const RequestStream crowd{BurstyArrivals{20, 400, 1, 0.2}, LogNormalLength{60, 1, 150},
                          LogNormalLength{40, 1, 200}};

TEST_CASE("every token is emitted once, whatever is put back, and Little's law holds on every path") {
  const ServingRun run = serve(crowded(), crowd, {3000, 0, 0}, 5);
  std::uint64_t tokens = 0;
  double in_system = 0;
  for (std::size_t i = 0; i < run.served.size(); ++i) {
    tokens += run.requests[i].output;
    in_system += run.served[i].end_ms - run.requests[i].arrival_ms;
    REQUIRE(run.served[i].first_ms > run.requests[i].arrival_ms);
    REQUIRE(run.served[i].end_ms >= run.served[i].first_ms);
  }
  CHECK(run.totals.preempted > 100);
  CHECK(run.totals.emitted == tokens);
  CHECK(run.in_system_ms == doctest::Approx(in_system).epsilon(1e-9));
}

TEST_CASE("more replicas are never worse, and a run is a function of its arguments") {
  const RequestStream stream{PoissonArrivals{60}, FixedLength{50}, GeometricLength{40}};
  ServerOptions options = crowded();
  options.engine.cache_blocks = 0;
  double last = 1e300;
  for (const std::uint32_t replicas : {1U, 2U, 4U, 8U}) {
    options.replicas = replicas;
    const double wait = mean_wait(serve(options, stream, {4000, 200, 200}, 3));
    CHECK(wait <= last);
    last = wait;
  }
  const ServingRun once = serve(crowded(), crowd, {500, 50, 50}, 9);
  const ServingRun again = serve(crowded(), crowd, {500, 50, 50}, 9);
  for (std::size_t i = 0; i < once.served.size(); ++i)
    REQUIRE(once.served[i].end_ms == again.served[i].end_ms);
}

TEST_CASE("the full server serves what its costs allow, whatever the arrivals and the network before it") {
  // Steps take time only for positions and prompts, so each request takes the same time, whatever runs beside
  // it.
  ServerOptions options;
  options.engine.max_sequences = 8;
  options.engine.time = [](const StepWork& work) { return 0.25 * work.verified + 0.01 * work.prefilled; };
  options.front_ms = 1e6;
  const double alone = 0.01 * 100 + 10 * 0.25;
  for (const Arrivals& arrivals :
       {Arrivals{PoissonArrivals{1}}, Arrivals{PoissonArrivals{1e6}}, Arrivals{ClosedLoop{1}}}) {
    const RequestStream stream{arrivals, FixedLength{100}, FixedLength{11}};
    const ServingRun run = serve_full(options, stream, 3);
    CHECK(requests_per_second(run) == doctest::Approx(1000 / alone).epsilon(0.01));
    CHECK(run.totals.running_ms / run.totals.busy_ms == doctest::Approx(8).epsilon(0.01));
  }
  const Control stopped{.stop = [] { return true; }};
  options.engine.max_sequences = 256;
  CHECK(requests_per_second(
            serve_full(options, {ClosedLoop{1}, FixedLength{9}, FixedLength{99}}, 3, stopped)) == 0);
}

TEST_CASE("the mean rate of a stream is that of its arrivals") {
  CHECK(mean_rate({PoissonArrivals{7}}) == 7);
  CHECK_FALSE(mean_rate({ClosedLoop{7}}));
  CHECK(*mean_rate({bursty_arrivals(7, 5, 10)}) == doctest::Approx(7));
  RequestStream played{TraceArrivals{3}};
  played.trace = std::make_shared<const Trace>(Trace{{0, 1, 1}, {500, 1, 1}, {1000, 1, 1}});
  CHECK(*mean_rate(played) == doctest::Approx(3 * 2));
}

TEST_CASE("runs of one seed and of its neighbours are different runs") {
  // Null: arrivals of different runs are independent. Planted: if run seeds were seed + run, 7 of 8 runs
  // would occur twice.
  const RequestStream stream{PoissonArrivals{1}, FixedLength{1}, FixedLength{1}};
  std::set<double> first_arrivals;
  std::set<double> of_sums;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (std::uint64_t run = 0; run < 8; ++run) {
      first_arrivals.insert(make_requests(stream, run_seed(seed, run), 1).front().arrival_ms);
      of_sums.insert(make_requests(stream, seed + run, 1).front().arrival_ms);
    }
  }
  CHECK(first_arrivals.size() == 160);
  CHECK(of_sums.size() == 27);
  CHECK(run_seed(1, 1ULL << 32U) != run_seed(1, 1));
  CHECK(run_seed(5, 3) == run_seed(5, 3));
  // First arrivals have the mean of exponential waits of one second.
  double sum = 0;
  for (const double arrival : first_arrivals) sum += arrival / 1000;
  CHECK(mean_agrees(sum / 160, 1, 1, 160));
}

TEST_CASE("a request that can never fit is refused") {
  ServerOptions options = crowded();
  options.engine.cache_blocks = 20;
  CHECK_THROWS_AS(serve(options, crowd, {500, 0, 0}, 9), std::invalid_argument);
}

TEST_CASE("tiers follow what is accepted") {
  ServerOptions options = one_by_one(0, iid_law(0.1));
  const RequestStream stream{ClosedLoop{1}, FixedLength{10}, FixedLength{50}};
  options.policy = EmaTiers::defaults();
  options.acceptance = iid_law(0.98);
  const ServingRun easy = serve(options, stream, {200, 20, 0}, 7);
  CHECK(easy.totals.ms_by_gamma[7] > 0.6 * easy.totals.busy_ms);
  options.acceptance = iid_law(0.2);
  const ServingRun hard = serve(options, stream, {200, 20, 0}, 7);
  CHECK(hard.totals.ms_by_gamma[1] > 0.6 * hard.totals.busy_ms);
}

TEST_CASE("goodput finds the gamma of its own formula, and the clairvoyant is faster") {
  const StepTime time = [](const StepWork& work) {
    return 10 + 0.1 * (work.verified + work.prefilled) + 0.8 * work.drafts;
  };
  ServerOptions options;
  options.engine.max_sequences = 8;
  options.engine.time = time;
  options.acceptance = iid_law(0.8);
  const RequestStream stream{ClosedLoop{8}, FixedLength{1}, FixedLength{400}};
  const LoadSize size{400, 16, 16};
  const auto speed = [&](StepPolicy policy) {
    options.policy = std::move(policy);
    const ServingRun run = serve(options, stream, size, 2);
    return static_cast<double>(run.totals.emitted) / run.window_ms;
  };
  double best = 0;
  std::uint32_t best_gamma = 0;
  for (std::uint32_t gamma = 0; gamma <= 8; ++gamma) {
    const double found = speed(FixedGamma{gamma});
    if (found > best) {
      best = found;
      best_gamma = gamma;
    }
  }
  CHECK(best_gamma >= 4);
  CHECK(speed(GoodputGamma{.most = 8, .time = time}) > 0.985 * best);
  CHECK(speed(Clairvoyant{.most = 8, .time = time}) > 1.05 * best);
}

}  // namespace

TEST_CASE("quantiles of gaps are not beyond the least and the largest gap") {
  GapHistogram gaps;
  GapHistogram more;
  // Differences of event times have rounding errors.
  for (int step = 1; step < 100; ++step) (step % 2 == 0 ? gaps : more).add(13.1 * step - 13.1 * (step - 1));
  gaps += more;
  for (const double share : {0.01, 0.5, 0.95})
    CHECK(gaps.quantile(share) == doctest::Approx(13.1).epsilon(1e-9));
}
