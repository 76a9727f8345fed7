// Simulates a server with one or more replicas under load, on a virtual clock.
#pragma once

#include <cstdint>
#include <vector>

#include "serving/server/replica.hpp"
#include "sim/control.hpp"

namespace speclab {

/// A request goes to the replica with the fewest requests, the first among equals.
struct ServerOptions {
  EngineOptions engine;
  std::uint32_t replicas = 1;
  double front_ms = 0;               ///< from a request's arrival to its queue: network, tokenisation
  StepPolicy policy = FixedGamma{};  ///< each replica has a copy
  AcceptanceLaw acceptance = RoundLaw{};
};

/// Requests before the measured ones fill the server; those after keep it filled.
struct LoadSize {
  std::uint64_t measured = 10000;
  std::uint64_t before = 1000;
  std::uint64_t after = 1000;

  std::uint64_t all() const { return before + measured + after; }
};

struct ServingRun {
  std::vector<Request> requests = {};  ///< measured requests, with their arrivals
  std::vector<Served> served = {};     ///< times of `requests`
  /// From the arrival of the first measured request to that of the first after the measured ones, or to the
  /// end.
  double window_ms = 0;
  double in_system_ms = 0;  ///< integral over the window of requests in queues and engines
  StepTotals totals = {};   ///< over steps that began in the window
  GapHistogram gaps = {};
  bool stopped = false;  ///< `control` ended the run; nothing else is set
};

/// Simulates the stream's requests until all measured ones are served. The result depends on the arguments
/// alone. Progress counts requests. Throws std::invalid_argument if a request does not fit into the cache.
ServingRun serve(const ServerOptions& options, const RequestStream& stream, const LoadSize& size,
                 std::uint64_t seed, const Control& control = {});

/// Returns the seed of run `run` in a set: a word drawn with `seed`, so that neighbouring sets share no run.
std::uint64_t run_seed(std::uint64_t seed, std::uint64_t run);

/// Simulates a full server, ignoring the stream's arrivals: twice as many clients as may run.
ServingRun serve_full(ServerOptions options, RequestStream stream, std::uint64_t seed,
                      const Control& control = {});
/// Returns the measured requests per second of their window, a full server's capacity; 0 for a stopped run.
double requests_per_second(const ServingRun& run);

/// At this share of its capacity or above a server is overloaded: queues grow without end, so latencies
/// measure the length of the run, not the server.
inline constexpr double overloaded_share = 0.98;

}  // namespace speclab
