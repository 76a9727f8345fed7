// One row of a table: what a config sets for it, and what is printed of it.
#pragma once

#include <memory>
#include <string>

#include "experiments/format/fields.hpp"

namespace speclab {

/// One row of a table: what to set, and what the paper prints.
struct CaseConfig {
  std::string label;
  OrderedMap<std::shared_ptr<const Json>> set;  ///< values by JSON pointer
  OrderedMap<std::string> printed;              ///< by metric, as text so that digits count
  OrderedMap<std::string> measured;
  std::string note;
};

}  // namespace speclab
