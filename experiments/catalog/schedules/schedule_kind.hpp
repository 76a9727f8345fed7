// The schedules that the experiment "schedules" can name: one file per schedule, one line in
// all_schedules.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/base/format/family.hpp"
#include "sim/schedules/schedule.hpp"

namespace speclab {

/// A speedup over plain decoding, at an acceptance rate; empty where there is none.
using SpeedupFormula = std::function<std::optional<double>(double alpha)>;

/// A formula that is commonly printed for a schedule and stands for a slightly different program.
struct PrintedFormula {
  SpeedupFormula value;
  std::string meaning;  ///< what it stands for, in a few words
};

/// What a schedule takes from the config where it has no parameter of its own.
struct ScheduleRequest {
  std::int32_t gamma;    ///< drafted tokens per round
  double c;              ///< time of a draft run, in target runs
  std::uint32_t length;  ///< tokens of a trial
};

struct MadeSchedule {
  std::string name;  ///< of its row, unless the config has a label
  AnySchedule schedule;
  SpeedupFormula formula;                      ///< of exactly this program
  std::optional<PrintedFormula> printed = {};  ///< where another one is commonly printed
  std::uint64_t least_tokens = 1;              ///< in which the schedule does anything
  double runs_per_time = 0;                    ///< about, in one target run, where they may be very many
};

/// One kind of schedule. `make` throws ConfigError at or below selected.path, or at "/gamma" or "/cost/c" for
/// values that it took from there.
struct ScheduleKind : KindInfo {
  /// Keys that every schedule has.
  struct Common {
    std::string label;  ///< name of the row
  };
  std::function<MadeSchedule(const SelectedKind& selected, const ScheduleRequest& request)> make;
};

using ScheduleConfig = Selected<ScheduleKind>;

/// Every schedule; tests and other programs may add schedules.
Family<ScheduleKind>& schedule_family();

/// The parameters "gamma" and "c", which stand for the config's.
template <class P>
Field own_gamma_field() {
  return integer_field("gamma", &P::gamma, 0, 64, "Drafted tokens; without it the config's.");
}
template <class P>
Field own_c_field() {
  return field("c", &P::c, number(0, 1000), "Time of a draft run; without it the config's cost.");
}

/// Where a value stands that a schedule has of its own or takes from the config.
inline std::string own_or_common(bool own, const std::string& path, const char* key, const char* common) {
  return own ? path + "/" + key : common;
}

}  // namespace speclab
