// Declares JSON whose keys keep their order. Only code that reads configs and writes results includes the
// library; this declaration is enough for other code.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace speclab {

using Json = nlohmann::ordered_json;

}  // namespace speclab
