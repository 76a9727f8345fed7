// The requests that a server gets: when they arrive, and how long their prompts and outputs are.
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

/// Independent of one another: exponential times between arrivals.
struct PoissonArrivals {
  double per_second = 1;
};

/// Two phases in turn, each of an exponential duration, with Poisson arrivals at a rate of its own: a
/// Markov-modulated Poisson process (Fischer and Meier-Hellstern 1993). It starts in a phase drawn with the
/// phases' shares of time.
struct BurstyArrivals {
  double quiet_per_second = 1;
  double burst_per_second = 1;
  double quiet_seconds = 1;  ///< mean duration
  double burst_seconds = 1;  ///< mean duration
};

/// So many clients, each of which sends its next request when the answer to the one before is whole.
struct ClosedLoop {
  std::uint32_t clients = 1;
};

/// At the times of the trace, `speed` times as fast; after its last request it is repeated.
struct TraceArrivals {
  double speed = 1;
};

using Arrivals = std::variant<PoissonArrivals, BurstyArrivals, ClosedLoop, TraceArrivals>;

/// A mean rate in bursts that take a fifth of the time, of `factor` times the rate between them; Poisson
/// arrivals at factor 1.
Arrivals bursty_arrivals(double per_second, double factor, double burst_seconds);

struct FixedLength {
  std::uint32_t tokens = 1;
};

/// P[n] = (1 - 1/mean)^(n - 1) / mean for n >= 1: without memory.
struct GeometricLength {
  double mean = 1;
};

/// A log-normal number rounded to the nearest, within [1, most].
struct LogNormalLength {
  double mean = 1;       ///< of the number before it is rounded and bounded
  double variation = 1;  ///< standard deviation over mean, of the same
  std::uint32_t most = 1U << 20U;
};

using Length = std::variant<FixedLength, GeometricLength, LogNormalLength>;

/// Fixed at the mean, a whole number, for variation 0; else log-normal, up to 32 times the mean, beyond which
/// a length of variation 1 comes once in 40,000 requests.
Length varied_length(double mean, double variation);

/// Requests as they were recorded, in the order of arrival, the first at 0 ms.
using Trace = std::vector<Request>;

struct RequestStream {
  Arrivals arrivals = PoissonArrivals{};
  Length prompt = FixedLength{};
  Length output = FixedLength{};
  /// Where there is one, lengths are those of its requests in turn.
  std::shared_ptr<const Trace> trace = {};
};

/// The first `count` requests. Request i is a function of the seed and i, but for arrival times, which add
/// up. Those of a closed loop have arrival 0: they arrive as answers end.
std::vector<Request> make_requests(const RequestStream& stream, std::uint64_t seed, std::size_t count);

/// Mean arrivals a second in the long run; none of a closed loop, which asks as fast as it is answered.
std::optional<double> mean_rate(const RequestStream& stream);

/// Arrivals a second of a trace of at least two requests at different times: its time is that of its arrivals
/// and one mean gap more, after which it may be repeated.
double trace_rate(const Trace& trace);

}  // namespace speclab
