// JSON with keys in the order in which they were written. Only the config door and the result writer need
// the whole library; everything else gets by with this declaration.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace speclab {

using Json = nlohmann::ordered_json;

}  // namespace speclab
