// The results of schedules: their times and, on request, every run on the virtual clock.
#pragma once

#include <cstdint>
#include <vector>

namespace speclab {

/// The result of a schedule for one sequence. Times are in target runs.
struct Elapsed {
  std::uint64_t tokens = 0;  ///< tokens emitted
  double time = 0;
  double plain_time = 0;  ///< time of decoding the same tokens without speculation
};

/// The processor of a run: runs of one track never overlap.
enum class TrackKind : std::uint8_t { draft, target, function_f, function_g, draft_of_f };

struct Track {
  TrackKind kind;
  int number = 0;  ///< number of the server, or of the level of a draft

  bool operator==(const Track&) const = default;
};

/// `dropped`: the run's result was not used, and the run was stopped at its end time.
enum class EventKind : std::uint8_t {
  draft_run,
  target_run,
  dropped_run,
  function_f,
  function_g,
  draft_of_f
};

/// One run: [start, end) in target runs. Counts that do not apply are negative.
struct Event {
  double start;
  double end;
  Track track;
  EventKind kind;
  std::int64_t tokens = -1;    ///< tokens drafted, or verified
  std::int64_t accepted = -1;  ///< accepted tokens among these
};

/// A receiver that ignores events; schedules then create none.
struct NoEvents {
  static constexpr bool wanted = false;
};

/// Keeps the events that start before `horizon`.
struct EventLog {
  static constexpr bool wanted = true;
  double horizon;
  std::vector<Event> events{};

  void add(const Event& event) {
    if (event.start < horizon && event.end > event.start) events.push_back(event);
  }
};

}  // namespace speclab
