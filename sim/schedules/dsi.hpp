// Distributed speculative inference (Timor et al. 2024): the draft never waits, and several target servers
// verify at the same time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

#include "sim/schedules/rounds.hpp"

namespace speclab {

/// The model, from the start or a correction, when the text is known to be right:
/// - The draft generates one token every c, until it is stopped.
/// - A free server starts a target run (time 1) over all tokens drafted so far: the first run at once, later
///    ones as soon as at least `lookahead` tokens were drafted after the last run's.
/// - A run over m drafted tokens decides these and the next one, which is drafted before the run ends, since
///    c <= 1.
/// - The first run to end that covers the first rejected position gives the token in its place. Drafts and
///    runs beyond it are stopped and dropped, all servers are free, and everything starts again.
/// If a draft ends at the moment when a run starts, the run covers that draft. 0 < c <= 1.
struct Dsi {
  std::uint64_t servers;  ///< 0: as many as are needed
  std::uint64_t lookahead;
  double c;
};

/// The time from one correction to the next.
template <class Events>
class DsiCycle {
 public:
  DsiCycle(const Dsi& schedule, double start, Events& events)
      : schedule_(schedule), start_(start), events_(events) {}

  /// Runs until the rejection after `accepted` drafts is found; returns how long that takes.
  double run(std::uint64_t accepted) {
    // Draft runs end at multiples of c, and a target run lasts 1. Ends that coincide may differ by rounding.
    constexpr double together = 1e-9;
    while (true) {
      // A server that becomes free at this moment is preferred.
      if (next_end() > now_ + together) start_runs();
      const double next_draft = schedule_.c * static_cast<double>(drafted_ + 1);
      if (next_draft <= next_end() + together) {
        now_ = std::max(now_, next_draft);
        ++drafted_;
      } else {
        now_ = next_end();
        if (runs_[done_].tokens >= accepted) break;
        report_run(runs_[done_], now_, EventKind::target_run);
        ++done_;
      }
    }
    report_end(accepted);
    return now_;
  }

 private:
  struct Run {
    double start;
    std::uint64_t tokens;
    int server;
  };

  /// Returns when the next run ends. Runs take the same time, so that they end in the order in which they
  /// started.
  double next_end() const {
    return runs_.size() > done_ ? runs_[done_].start + 1 : std::numeric_limits<double>::infinity();
  }

  void start_runs() {
    const bool due = runs_.empty() || drafted_ >= runs_.back().tokens + schedule_.lookahead;
    const std::uint64_t busy = runs_.size() - done_;
    if (!due || (schedule_.servers != 0 && busy == schedule_.servers)) return;
    int server = 0;
    if constexpr (Events::wanted) server = take_server();
    runs_.push_back({now_, drafted_, server});
  }

  /// Returns the first server that is free.
  int take_server() {
    for (; given_back_ < done_; ++given_back_) free_servers_.push(runs_[given_back_].server);
    if (free_servers_.empty()) return servers_++;
    const int server = free_servers_.top();
    free_servers_.pop();
    return server;
  }

  void report_run(const Run& run, double end, EventKind kind) {
    if constexpr (Events::wanted) {
      events_.add({start_ + run.start,
                   start_ + end,
                   {TrackKind::target, run.server},
                   kind,
                   static_cast<std::int64_t>(run.tokens)});
    }
  }

  void report_end(std::uint64_t accepted) {
    if constexpr (Events::wanted) {
      report_run(runs_[done_], now_, EventKind::target_run);
      for (std::size_t i = done_ + 1; i < runs_.size(); ++i)
        report_run(runs_[i], now_, EventKind::dropped_run);
      // The last draft run, i = drafted_, had not ended.
      for (std::uint64_t i = 0; i <= drafted_; ++i) {
        const double from = schedule_.c * static_cast<double>(i);
        const double to = std::min(from + schedule_.c, now_);
        const EventKind kind = i < accepted ? EventKind::draft_run : EventKind::dropped_run;
        events_.add({start_ + from, start_ + to, {TrackKind::draft}, kind, 1});
      }
    }
  }

  const Dsi& schedule_;
  double start_;
  Events& events_;
  double now_ = 0;
  std::uint64_t drafted_ = 0;
  std::vector<Run> runs_{};  ///< in the order of their starts
  std::size_t done_ = 0;     ///< number of these runs that have ended
  // Only for events: free servers that had a run, the number of servers that had one, and the number of runs
  // whose server was given back.
  std::priority_queue<int, std::vector<int>, std::greater<>> free_servers_{};
  int servers_ = 0;
  std::size_t given_back_ = 0;
};

template <class Events>
Elapsed run_schedule(const Dsi& schedule, const Acceptances& text, Events& events) {
  std::uint64_t emitted = 0;
  double now = 0;
  while (emitted < text.tokens) {
    const std::uint64_t accepted = text.leading(emitted, text.bits.size());
    DsiCycle<Events> cycle(schedule, now, events);
    now += cycle.run(accepted);
    emitted += accepted + 1;
  }
  return {emitted, now, static_cast<double>(emitted)};
}

}  // namespace speclab
