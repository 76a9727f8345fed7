// A server of one or several replicas under load, on a virtual clock.
#pragma once

#include <cstdint>
#include <vector>

#include "serving/server/replica.hpp"
#include "sim/control.hpp"

namespace speclab {

enum class Router { round_robin, least_loaded };

struct ServerOptions {
  EngineOptions engine;
  std::uint32_t replicas = 1;
  double front_ms = 0;  ///< from a request's arrival to its place in a queue: network, tokenisation
  Router router = Router::least_loaded;  ///< the replica of the fewest requests, the first of several
  StepPolicy policy = FixedGamma{};      ///< each replica has one of its own
  AcceptanceLaw acceptance = RoundLaw{};
};

/// Requests before those measured fill the server, and those after keep it filled.
struct LoadSize {
  std::uint64_t measured = 10000;
  std::uint64_t before = 1000;
  std::uint64_t after = 1000;

  std::uint64_t all() const { return before + measured + after; }
};

struct ServingRun {
  std::vector<Request> requests;  ///< those measured, with their arrivals
  std::vector<Served> served;     ///< of these
  /// Between the arrivals of the first measured request and the first after them, or the end without any.
  double window_ms = 0;
  double in_system_ms = 0;  ///< requests in queues and engines times milliseconds of the window
  StepTotals totals;        ///< of steps that began in that window
  GapHistogram gaps;
  bool stopped = false;  ///< by the control; nothing else is filled in then
};

/// Plays the requests of the stream until all of those measured are served. A function of its arguments
/// alone. Progress counts requests. std::invalid_argument when a request does not fit into the cache.
ServingRun serve(const ServerOptions& options, const RequestStream& stream, const LoadSize& size,
                 std::uint64_t seed, const Control& control = {});

/// The seed of run `run` of a set of runs: a word drawn with `seed`, so that sets of neighbouring seeds share
/// no run.
std::uint64_t run_seed(std::uint64_t seed, std::uint64_t run);

/// The server when it is full, whatever the arrivals of the stream: twice as many clients as requests may
/// run, each of which sends its next request at once.
ServingRun serve_full(ServerOptions options, RequestStream stream, std::uint64_t seed,
                      const Control& control = {});
/// Of those measured, in their window: of a full server its capacity. 0 of a run that was stopped.
double requests_per_second(const ServingRun& run);

/// At this share of the capacity or above it a server is overloaded: queues grow for as long as it runs, so
/// that latencies say how long that was, and nothing of the server.
inline constexpr double overloaded_share = 0.98;

}  // namespace speclab
