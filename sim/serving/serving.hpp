// A server of one or several replicas under load, on a virtual clock.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/control.hpp"
#include "sim/serving/replica.hpp"

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

}  // namespace speclab
