// The schedules that the experiment "schedules" can name. Each has an entry and a line in
// all_schedules.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "experiments/base/format/family.hpp"
#include "sim/schedules/schedule.hpp"

namespace speclab {

/// Returns the speedup at an acceptance rate; empty if there is none.
using SpeedupFormula = std::function<std::optional<double>(double alpha)>;

/// A formula that papers print for a schedule but that describes a slightly different program.
struct PrintedFormula {
  SpeedupFormula value;
  std::string meaning;  ///< the program that it describes, in a few words
};

/// Values that a schedule takes from the config where it has no parameter of its own.
struct ScheduleRequest {
  std::int32_t gamma;    ///< drafted tokens per round
  double c;              ///< time of a draft run, in target runs
  std::uint32_t length;  ///< tokens of a trial
};

struct MadeSchedule {
  std::string name;  ///< name of its row, unless the config has a label
  AnySchedule schedule;
  SpeedupFormula formula;                      ///< describes exactly this program
  std::optional<PrintedFormula> printed = {};  ///< set if another formula is commonly printed
  std::uint64_t min_tokens = 1;                ///< fewest tokens with which the schedule does anything
  double runs_per_time = 0;  ///< approximate runs per target-run time, for schedules with very many runs
};

/// One kind of schedule. `make` throws ConfigError at or below selected.path, or at "/gamma" or "/cost/c" for
/// values taken from there.
struct ScheduleKind : KindInfo {
  /// Keys that all schedules share.
  struct Common {
    std::string label;  ///< name of the row
  };
  std::function<MadeSchedule(const SelectedKind& selected, const ScheduleRequest& request)> make;
};

using ScheduleConfig = Selected<ScheduleKind>;

/// Returns the family of all schedules; tests and other programs may add some.
Family<ScheduleKind>& schedule_family();

/// Describe the parameters "gamma" and "c", which override the config's.
template <class P>
Field own_gamma_field() {
  return integer_field("gamma", &P::gamma, 0, 64, "Drafted tokens (default: the config's gamma).");
}
template <class P>
Field own_c_field() {
  return field("c", &P::c, number(0, 1000), "Time of a draft run (default: the config's cost).");
}

/// Returns the JSON path of a value: the schedule's own key, or the config's.
inline std::string own_or_common(bool own, const std::string& path, const char* key, const char* common) {
  return own ? path + "/" + key : common;
}

}  // namespace speclab
