// Declares JSON whose keys keep the order in which they were written. Only the code that reads configs and
// writes results needs the whole library; this declaration is enough for everything else.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace speclab {

using Json = nlohmann::ordered_json;

}  // namespace speclab
