// A schedule: the draft runs on a device of its own while the target verifies the round before.
#include <algorithm>

#include "analysis/theory/theorems.hpp"
#include "tests/extending/own_kinds.hpp"

namespace speclab {

namespace {

/// Rounds of gamma drafted tokens; a round takes as long as the slower of the two devices.
struct Overlapped {
  std::uint64_t gamma;
  double c;

  double round_time() const { return std::max(1.0, c * static_cast<double>(gamma)); }
};

template <class Events>
Elapsed run_schedule(const Overlapped& schedule, const Acceptances& text, Events&) {
  std::uint64_t emitted = 0;
  std::uint64_t rounds = 0;
  for (; emitted < text.tokens; ++rounds) emitted += text.leading(emitted, schedule.gamma) + 1;
  return {emitted, static_cast<double>(rounds) * schedule.round_time(), static_cast<double>(emitted)};
}

struct Parameters {
  std::optional<std::int32_t> gamma;
};

}  // namespace

ScheduleKind overlapped_schedule() {
  return kind_entry<ScheduleKind, Parameters>(
      "overlapped", "Drafting and verification on two devices at the same time.",
      {own_gamma_field<Parameters>()},
      [](const Parameters& own, const std::string&, const ScheduleRequest& request) {
        const std::int32_t gamma = own.gamma.value_or(request.gamma);
        const Overlapped schedule{static_cast<std::uint64_t>(gamma), request.c};
        return MadeSchedule{.name = "overlapped",
                            .schedule = schedule,
                            .formula = [=](double alpha) -> std::optional<double> {
                              return expected_tokens(alpha, gamma) / schedule.round_time();
                            }};
      });
}

}  // namespace speclab
