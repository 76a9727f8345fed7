// What this program was built from.
#pragma once

#include <string>

namespace speclab {

/// "0.1.0".
std::string version_string();

/// Version, compiler, build type, CUDA and dependencies, one a line.
std::string build_description();

}  // namespace speclab
