#include "experiments/schedules/schedules_result.hpp"

#include <utility>

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
      object<P>("commonly_printed", "A formula that is commonly printed and stands for another program.",
                {field<&P::meaning>("meaning", text(), "What it stands for."),
                 field<&P::value>("value", any_number(), "Its value.")});
  return type;
}

const Typed<ScheduleRow>& row_type() {
  using R = ScheduleRow;
  static const auto type = object<R>(
      "schedule", "One schedule; speedups are over plain decoding.",
      {field<&R::name>("name", text(), "Name of the row."),
       field<&R::kind>("kind", text(), "Kind of the schedule."),
       field<&R::formula>("formula", any_number(), "Closed form of this program."),
       field<&R::commonly_printed>("commonly_printed", printed_type(), "The commonly printed formula."),
       field<&R::speedup>("speedup", interval_type(), "Simulated speedup."),
       field<&R::formula_within_interval>("formula_within_interval", boolean(),
                                          "Whether the formula lies in the simulated interval."),
       field<&R::error_percent>("error_percent", any_number(), "Error of the formula."),
       field<&R::difference>("difference", interval_type(),
                             "Speedup minus that of the reference, paired trial by trial."),
       field<&R::tokens>("tokens", count<std::uint64_t>(), "Emitted tokens of all trials.")});
  return type;
}

const Typed<ScheduleTrace>& trace_type() {
  using R = TracedRun;
  using T = ScheduleTrace;
  static const auto run = object<R>(
      "run", "One run on the virtual clock, in target runs.",
      {field<&R::start>("start", any_number(), "Start."), field<&R::end>("end", any_number(), "End."),
       field<&R::track>("track", text(), "Where it takes place."),
       field<&R::kind>("kind", choice(event_kinds()), "What it does."),
       field<&R::label>("label", text(), "Tokens, and how many were accepted.")});
  static const auto type = object<T>("trace", "The runs of a schedule's first sequence.",
                                     {field<&T::schedule>("schedule", text(), "Name of the schedule."),
                                      field<&T::end>("end", any_number(), "End of the last run."),
                                      field<&T::runs>("runs", list(run), "The runs, by track.")});
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
      object<S>("schedules", "Schedules over the same acceptances.",
                {field<&S::measured_alpha>("measured_alpha", interval_type(), "Share of accepted positions."),
                 field<&S::reference>("reference", text(), "The schedule that the others are compared with."),
                 field<&S::rows>("rows", list(row_type()), "One schedule each."),
                 field<&S::traces>("traces", list(trace_type()), "The runs of the first sequence.")});
  return type;
}

}  // namespace speclab
