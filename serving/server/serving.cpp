#include "serving/server/serving.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "core/random/philox.hpp"

namespace speclab {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// One run.
class Server {
 public:
  Server(const ServerOptions& options, const RequestStream& stream, const LoadSize& size, std::uint64_t seed)
      : options_(options),
        size_(size),
        draws_(options.acceptance, seed),
        requests_(make_requests(stream, seed, size.all())),
        served_(size.all()),
        ends_(options.replicas, never) {
    check_cache();
    for (std::uint32_t i = 0; i < options.replicas; ++i)
      replicas_.emplace_back(options.engine, options.policy, draws_, requests_, served_);
    if (const auto* loop = std::get_if<ClosedLoop>(&stream.arrivals)) {
      closed_ = true;
      sent_.assign(std::min<std::size_t>(loop->clients, requests_.size()), 0);
    }
  }

  ServingRun run(const Control& control) {
    std::uint64_t steps = 0;
    std::uint64_t told = 0;
    while (measured_whole_ < size_.measured) {
      constexpr std::uint64_t stride = 1024;
      if (++steps % stride == 0) {
        if (control.stop()) return {.stopped = true};
        control.progress(whole_count_ - told);
        told = whole_count_;
      }
      const auto next = std::min_element(ends_.begin(), ends_.end());
      const double arrival = next_arrival();
      if (arrival <= *next) {
        move_to(arrival);
        // All requests that arrive at this time enter before a step begins.
        while (arrived_ < requests_.size() && next_arrival() == arrival) arrive();
      } else {
        move_to(*next);
        end_step(static_cast<std::size_t>(next - ends_.begin()));
      }
      for (std::size_t i = 0; i < replicas_.size(); ++i) {
        if (replicas_[i].idle() && replicas_[i].load() > 0) ends_[i] = replicas_[i].begin_step(now_);
      }
    }
    control.progress(size_.all() - told);
    return finish();
  }

 private:
  /// Throws for a request that does not fit into an empty cache: it would be preempted forever.
  void check_cache() const {
    const EngineOptions& engine = options_.engine;
    if (engine.cache_blocks == 0) return;
    const std::uint64_t tokens = engine.cache_blocks * engine.block_tokens;
    for (const Request& request : requests_) {
      const std::uint64_t needed = std::uint64_t{request.prompt} + request.output + longest_draft + 1;
      if (needed <= tokens) continue;
      throw std::invalid_argument(fmt::format(
          "a request of {} prompt and {} output tokens needs a cache of {} tokens with its drafts; "
          "there are {}",
          request.prompt, request.output, needed, tokens));
    }
  }

  /// Returns the time at which the next request enters a queue.
  double next_arrival() const {
    if (arrived_ == requests_.size()) return never;
    if (!closed_) return requests_[arrived_].arrival_ms + options_.front_ms;
    return sent_.empty() ? never : sent_.front() + options_.front_ms;
  }

  void move_to(double time) {
    in_system_ms_ += (time - now_) * static_cast<double>(arrived_ - whole_count_);
    now_ = time;
  }

  void arrive() {
    const auto request = static_cast<std::uint32_t>(arrived_);
    if (closed_) {
      requests_[request].arrival_ms = sent_.front();
      sent_.pop_front();
    }
    if (arrived_ == size_.before) {
      window_begin_ = now_;
      in_system_ms_ = 0;
      for (Replica& replica : replicas_) replica.forget();
    }
    if (arrived_ == size_.before + size_.measured) close_window();
    ++arrived_;
    std::ranges::min_element(replicas_, {}, &Replica::load)->enqueue(request);
  }

  void end_step(std::size_t index) {
    whole_.clear();
    ends_[index] = never;
    replicas_[index].end_step(now_, whole_);
    for (const std::uint32_t request : whole_) {
      ++whole_count_;
      if (request >= size_.before && request < size_.before + size_.measured) ++measured_whole_;
      if (closed_) sent_.push_back(now_);
    }
  }

  void close_window() {
    window_end_ = now_;
    window_in_system_ms_ = in_system_ms_;
    for (const Replica& replica : replicas_) {
      totals_ += replica.totals();
      gaps_ += replica.gaps();
    }
    closed_window_ = true;
  }

  ServingRun finish() {
    if (!closed_window_) close_window();
    const auto first = static_cast<std::ptrdiff_t>(size_.before);
    const auto last = first + static_cast<std::ptrdiff_t>(size_.measured);
    return {.requests = {requests_.begin() + first, requests_.begin() + last},
            .served = {served_.begin() + first, served_.begin() + last},
            .window_ms = window_end_ - window_begin_,
            .in_system_ms = window_in_system_ms_,
            .totals = totals_,
            .gaps = gaps_};
  }

  const ServerOptions& options_;
  LoadSize size_;
  AcceptanceDraws draws_;
  std::vector<Request> requests_;
  std::vector<Served> served_;
  std::vector<Replica> replicas_;
  std::vector<double> ends_;
  std::vector<std::uint32_t> whole_;
  double now_ = 0;
  std::uint64_t arrived_ = 0;
  bool closed_ = false;
  std::deque<double> sent_;  ///< send times of closed-loop requests that are not yet in a queue
  std::uint64_t whole_count_ = 0;
  std::uint64_t measured_whole_ = 0;
  double window_begin_ = 0;
  double window_end_ = 0;
  double in_system_ms_ = 0;
  double window_in_system_ms_ = 0;
  bool closed_window_ = false;
  StepTotals totals_;
  GapHistogram gaps_;
};

}  // namespace

ServingRun serve(const ServerOptions& options, const RequestStream& stream, const LoadSize& size,
                 std::uint64_t seed, const Control& control) {
  return Server(options, stream, size, seed).run(control);
}

std::uint64_t run_seed(std::uint64_t seed, std::uint64_t run) {
  constexpr std::uint16_t run_slot = 4;  // differs from the slots of request_stream.cpp
  return philox_words(seed, 0, use_and_slot({Use::world, run_slot}), static_cast<std::uint32_t>(run >> 32U),
                      static_cast<std::uint32_t>(run))
      .first;
}

ServingRun serve_full(ServerOptions options, RequestStream stream, std::uint64_t seed,
                      const Control& control) {
  const std::uint32_t clients = 2 * options.engine.max_sequences * options.replicas;
  stream.arrivals = ClosedLoop{clients};
  options.front_ms = 0;
  const std::uint64_t settled = 2 * std::uint64_t{clients};
  return serve(options, stream, {2 * settled, settled, settled}, seed, control);
}

double requests_per_second(const ServingRun& run) {
  return run.stopped ? 0 : 1000 * static_cast<double>(run.requests.size()) / run.window_ms;
}

}  // namespace speclab
