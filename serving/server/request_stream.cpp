#include "serving/server/request_stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random/philox.hpp"

namespace speclab {

namespace {

/// Slots of a request's draws (Use::world).
enum Slot : std::uint16_t { arrival_slot, prompt_slot, output_slot, phase_slot };

Philox draws(std::uint64_t seed, std::uint32_t request, std::uint16_t slot) {
  return {seed, Site{request, 0, Draw{Use::world, slot}}};
}

std::uint32_t bounded(double tokens, double most) {
  return static_cast<std::uint32_t>(std::clamp(tokens, 1.0, most));
}

std::uint32_t draw_length(const Length& length, Philox words) {
  if (const auto* fixed = std::get_if<FixedLength>(&length)) return fixed->tokens;
  if (const auto* geometric = std::get_if<GeometricLength>(&length)) {
    if (geometric->mean <= 1) return 1;
    const double failures = std::log(open_unit(words())) / std::log1p(-1 / geometric->mean);
    return bounded(1 + std::floor(failures), 0x1p31);
  }
  const auto& normal = std::get<LogNormalLength>(length);
  const double variance = std::log1p(normal.variation * normal.variation);
  // Box and Muller 1958.
  const double radius = std::sqrt(-2 * std::log(open_unit(words())));
  const double z = radius * std::cos(2 * 3.14159265358979323846 * open_unit(words()));
  return bounded(std::round(normal.mean * std::exp(std::sqrt(variance) * z - variance / 2)), normal.most);
}

double exponential(Philox& words, double per_second) {
  return -1000 * std::log(open_unit(words())) / per_second;
}

/// Produces arrival times one after the other.
class Clock {
 public:
  Clock(const RequestStream& stream, std::uint64_t seed)
      : arrivals_(stream.arrivals),
        trace_(stream.trace.get()),
        seed_(seed),
        phases_(seed, Site{0, 0, Draw{Use::world, phase_slot}}) {
    if (const auto* bursty = std::get_if<BurstyArrivals>(&arrivals_)) {
      const double total = bursty->quiet_seconds + bursty->burst_seconds;
      in_burst_ = open_unit(phases_()) * total < bursty->burst_seconds;
      draw_phase(*bursty);
    }
  }

  double next(std::uint32_t request) {
    if (const auto* recorded = std::get_if<TraceArrivals>(&arrivals_)) {
      const std::size_t size = trace_->size();
      const double period = 1000 * static_cast<double>(size) / trace_rate(*trace_);
      return ((*trace_)[request % size].arrival_ms + static_cast<double>(request / size) * period) /
             recorded->speed;
    }
    Philox words = draws(seed_, request, arrival_slot);
    if (const auto* poisson = std::get_if<PoissonArrivals>(&arrivals_)) {
      now_ += exponential(words, poisson->per_second);
    } else if (const auto* bursty = std::get_if<BurstyArrivals>(&arrivals_)) {
      // Exponential waits are memoryless, so a wait that a phase's end cuts off is drawn anew.
      while (true) {
        const double rate = in_burst_ ? bursty->burst_per_second : bursty->quiet_per_second;
        const double wait = rate > 0 ? exponential(words, rate) : std::numeric_limits<double>::infinity();
        if (now_ + wait < phase_end_) {
          now_ += wait;
          break;
        }
        now_ = phase_end_;
        in_burst_ = !in_burst_;
        draw_phase(*bursty);
      }
    }
    return now_;
  }

 private:
  void draw_phase(const BurstyArrivals& bursty) {
    phase_end_ = now_ + exponential(phases_, 1 / (in_burst_ ? bursty.burst_seconds : bursty.quiet_seconds));
  }

  const Arrivals& arrivals_;
  const Trace* trace_;
  std::uint64_t seed_;
  Philox phases_;
  double now_ = 0;
  bool in_burst_ = false;
  double phase_end_ = 0;
};

}  // namespace

Arrivals bursty_arrivals(double per_second, double factor, double burst_seconds) {
  if (factor <= 1) return PoissonArrivals{per_second};
  constexpr double share = 0.2;
  const double quiet = per_second / (1 - share + share * factor);
  return BurstyArrivals{quiet, quiet * factor, (1 - share) / share * burst_seconds, burst_seconds};
}

Length varied_length(double mean, double variation) {
  if (variation == 0) return FixedLength{static_cast<std::uint32_t>(mean)};
  return LogNormalLength{mean, variation, static_cast<std::uint32_t>(32 * mean)};
}

std::vector<Request> make_requests(const RequestStream& stream, std::uint64_t seed, std::size_t count) {
  std::vector<Request> requests(count);
  Clock clock(stream, seed);
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<std::uint32_t>(i);
    requests[i].arrival_ms = clock.next(id);
    if (stream.trace) {
      const Request& recorded = (*stream.trace)[i % stream.trace->size()];
      requests[i].prompt = recorded.prompt;
      requests[i].output = recorded.output;
    } else {
      requests[i].prompt = draw_length(stream.prompt, draws(seed, id, prompt_slot));
      requests[i].output = draw_length(stream.output, draws(seed, id, output_slot));
    }
  }
  return requests;
}

std::optional<double> mean_rate(const RequestStream& stream) {
  if (const auto* poisson = std::get_if<PoissonArrivals>(&stream.arrivals)) return poisson->per_second;
  if (const auto* recorded = std::get_if<TraceArrivals>(&stream.arrivals))
    return recorded->speed * trace_rate(*stream.trace);
  const auto* bursty = std::get_if<BurstyArrivals>(&stream.arrivals);
  if (bursty == nullptr) return std::nullopt;
  return (bursty->quiet_per_second * bursty->quiet_seconds +
          bursty->burst_per_second * bursty->burst_seconds) /
         (bursty->quiet_seconds + bursty->burst_seconds);
}

double trace_rate(const Trace& trace) {
  return 1000 * static_cast<double>(trace.size() - 1) / (trace.back().arrival_ms - trace.front().arrival_ms);
}

}  // namespace speclab
