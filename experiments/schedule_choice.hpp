// From the schedules that a config names to their programs and closed forms.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/format/shape.hpp"
#include "sim/schedules/schedule.hpp"

namespace speclab {

/// A speed-up over plain decoding at an acceptance; empty where there is none.
using SpeedFormula = std::function<std::optional<double>(double alpha)>;

struct NamedSchedule {
  std::string name;  ///< unlike all others of the cell
  std::string kind;
  AnySchedule schedule;
  SpeedFormula formula;            ///< of this program
  SpeedFormula usual;              ///< as it is commonly given, where that is another; else null
  std::string usual_name;          ///< what the usual form stands for
  std::uint64_t least_tokens = 1;  ///< in which it does anything
};

/// The schedules of a resolved config, in its order. Throws ConfigError for parameters that do not fit.
std::vector<NamedSchedule> schedules_of(const Json& config);

}  // namespace speclab
