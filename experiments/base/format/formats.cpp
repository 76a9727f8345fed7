#include "experiments/base/format/formats.hpp"

#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/type.hpp"

namespace speclab {

void require_format(const Json& document, int number, const char* way_out) {
  const auto stated = document.is_object() ? document.find("format") : document.end();
  if (stated == document.end() || *stated == number) return;
  throw ConfigError("/format", "{}: another version of speclab wrote it, and this one reads format {}; {}",
                    shown(*stated), number, way_out);
}

}  // namespace speclab
