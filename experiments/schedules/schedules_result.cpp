#include "experiments/schedules/schedules_result.hpp"

#include <utility>

#include "experiments/config/result_fields.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

namespace {

const std::vector<std::pair<std::string, EventKind>>& event_kinds() {
  static const std::vector<std::pair<std::string, EventKind>> kinds{
      {"draft run", EventKind::draft_run},     {"target run", EventKind::target_run},
      {"dropped run", EventKind::dropped_run}, {"function f", EventKind::function_f},
      {"function g", EventKind::function_g},   {"stand-in for f", EventKind::draft_of_f}};
  return kinds;
}

const Typed<PrintedValue>& printed_type() {
  using P = PrintedValue;
  static const auto type =
      result_object<P>("commonly_printed", {{"meaning", &P::meaning}, {"value", &P::value}});
  return type;
}

const Typed<ScheduleRow>& row_type() {
  using R = ScheduleRow;
  static const auto type =
      result_object<R>("schedule", {{"name", &R::name},
                                    {"kind", &R::kind},
                                    {"formula", &R::formula},
                                    {"commonly_printed", &R::commonly_printed, printed_type()},
                                    {"speedup", &R::speedup, interval_type()},
                                    {"formula_within_interval", &R::formula_within_interval},
                                    {"error_percent", &R::error_percent},
                                    {"difference", &R::difference, interval_type()},
                                    {"tokens", &R::tokens}});
  return type;
}

const Typed<ScheduleTrace>& trace_type() {
  using R = TracedRun;
  using T = ScheduleTrace;
  static const auto run = result_object<R>("run", {{"start", &R::start},
                                                   {"end", &R::end},
                                                   {"track", &R::track},
                                                   {"kind", &R::kind, choice(event_kinds())},
                                                   {"label", &R::label}});
  static const auto type =
      result_object<T>("trace", {{"schedule", &T::schedule}, {"end", &T::end}, {"runs", &T::runs, run}});
  return type;
}

}  // namespace

const char* words(EventKind kind) {
  for (const auto& [name, each] : event_kinds()) {
    if (each == kind) return name.c_str();
  }
  return "";
}

const Typed<SchedulesResult>& schedules_result_type() {
  using S = SchedulesResult;
  static const auto type =
      result_object<S>("schedules", {{"measured_alpha", &S::measured_alpha, interval_type()},
                                     {"reference", &S::reference},
                                     {"rows", &S::rows, row_type()},
                                     {"traces", &S::traces, trace_type()}});
  return type;
}

}  // namespace speclab
