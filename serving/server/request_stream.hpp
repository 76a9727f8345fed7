// The requests that a server receives: when they arrive, and how long their prompts and outputs are.
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

/// Times between arrivals are independent and exponential.
struct PoissonArrivals {
  double per_second = 1;
};

/// Two phases alternate, each with an exponential duration and with Poisson arrivals at its own rate: a
/// Markov-modulated Poisson process (Fischer and Meier-Hellstern 1993). The first phase is drawn with
/// probabilities that are the phases' shares of time.
struct BurstyArrivals {
  double quiet_per_second = 1;
  double burst_per_second = 1;
  double quiet_seconds = 1;  ///< mean duration
  double burst_seconds = 1;  ///< mean duration
};

/// This many clients. Each sends its next request when the answer to the one before is complete.
struct ClosedLoop {
  std::uint32_t clients = 1;
};

/// Requests arrive at the times of the trace, `speed` times as fast. After its last request the trace is
/// repeated.
struct TraceArrivals {
  double speed = 1;
};

using Arrivals = std::variant<PoissonArrivals, BurstyArrivals, ClosedLoop, TraceArrivals>;

/// Returns arrivals with a mean rate and with bursts that take a fifth of the time, in which the rate is
/// `factor` times that between them; Poisson arrivals at factor 1.
Arrivals bursty_arrivals(double per_second, double factor, double burst_seconds);

struct FixedLength {
  std::uint32_t tokens = 1;
};

/// The memoryless law P[n] = (1 - 1/mean)^(n - 1) / mean for n >= 1.
struct GeometricLength {
  double mean = 1;
};

/// A log-normal number, rounded to the nearest whole number in [1, most].
struct LogNormalLength {
  double mean = 1;       ///< mean before rounding and bounds
  double variation = 1;  ///< standard deviation divided by the mean, before rounding and bounds
  std::uint32_t most = 1U << 20U;
};

using Length = std::variant<FixedLength, GeometricLength, LogNormalLength>;

/// Returns a length fixed at the mean, a whole number, for variation 0; else a log-normal length of at most
/// 32 times the mean, which at variation 1 would be exceeded once in 40,000 requests.
Length varied_length(double mean, double variation);

/// Recorded requests in the order of arrival; the first arrives at 0 ms.
using Trace = std::vector<Request>;

struct RequestStream {
  Arrivals arrivals = PoissonArrivals{};
  Length prompt = FixedLength{};
  Length output = FixedLength{};
  /// Recorded requests. If set, the requests of the stream take their lengths, in turn.
  std::shared_ptr<const Trace> trace = {};
};

/// Returns the first `count` requests. Request i is a function of the seed and i, except for arrival times,
/// which add up. Requests of a closed loop have arrival 0: they arrive when answers end.
std::vector<Request> make_requests(const RequestStream& stream, std::uint64_t seed, std::size_t count);

/// Returns the mean arrivals per second in the long run; empty for a closed loop, which sends requests as
/// fast as they are answered.
std::optional<double> mean_rate(const RequestStream& stream);

/// Returns the arrivals per second of a trace of at least two requests at different times. The trace lasts
/// from its first to its last arrival and one mean gap more, after which it may be repeated.
double trace_rate(const Trace& trace);

}  // namespace speclab
