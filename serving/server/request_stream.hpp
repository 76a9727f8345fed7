// The requests that a server receives: arrival times, prompt lengths, output lengths.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace speclab {

struct Request {
  double arrival_ms = 0;
  std::uint32_t prompt = 1;  ///< tokens, at least 1
  std::uint32_t output = 1;  ///< tokens, at least 1
};

/// Independent exponential times between arrivals.
struct PoissonArrivals {
  double per_second = 1;
};

/// Two alternating phases of exponential duration, each with Poisson arrivals at its own rate: a
/// Markov-modulated Poisson process (Fischer and Meier-Hellstern 1993). The first phase is random.
struct BurstyArrivals {
  double quiet_per_second = 1;
  double burst_per_second = 1;
  double quiet_seconds = 1;  ///< mean duration
  double burst_seconds = 1;  ///< mean duration
};

/// Each client sends its next request when the answer to the one before is complete.
struct ClosedLoop {
  std::uint32_t clients = 1;
};

/// Requests arrive at the trace's times, `speed` times as fast. The trace repeats after its last request.
struct TraceArrivals {
  double speed = 1;
};

using Arrivals = std::variant<PoissonArrivals, BurstyArrivals, ClosedLoop, TraceArrivals>;

/// Returns arrivals with this mean rate and bursts that take a fifth of the time, at `factor` times the rate
/// between them; factor 1: Poisson.
Arrivals bursty_arrivals(double per_second, double factor, double burst_seconds);

struct FixedLength {
  std::uint32_t tokens = 1;
};

/// P[n] = (1 - 1/mean)^(n - 1) / mean for n >= 1.
struct GeometricLength {
  double mean = 1;
};

/// A log-normal number, rounded to an integer in [1, most].
struct LogNormalLength {
  double mean = 1;       ///< before rounding and bounds
  double variation = 1;  ///< standard deviation divided by the mean, before rounding and bounds
  std::uint32_t most = 1U << 20U;
};

using Length = std::variant<FixedLength, GeometricLength, LogNormalLength>;

/// Returns a fixed length, the mean as an integer, for variation 0; else a log-normal length of at most 32
/// times the mean, which at variation 1 would be exceeded once in 40,000 requests.
Length varied_length(double mean, double variation);

/// Recorded requests by arrival; the first arrives at 0 ms.
using Trace = std::vector<Request>;

struct RequestStream {
  Arrivals arrivals = PoissonArrivals{};
  Length prompt = FixedLength{};
  Length output = FixedLength{};
  /// Recorded requests. If set, the stream's requests take their lengths, in turn.
  std::shared_ptr<const Trace> trace = {};
};

/// Returns the first `count` requests. Request i is a function of the seed and i, except for arrival times,
/// which add up. In a closed loop all have arrival 0: they arrive when answers end.
std::vector<Request> make_requests(const RequestStream& stream, std::uint64_t seed, std::size_t count);

/// Returns the long-run arrivals per second; empty for a closed loop, whose rate depends on the answers.
std::optional<double> mean_rate(const RequestStream& stream);

/// Returns the arrivals per second of a trace with at least two arrival times. It lasts from first to last
/// arrival plus one mean gap, after which it may repeat.
double trace_rate(const Trace& trace);

}  // namespace speclab
