// What this program was built from.
#pragma once

#include <string>

namespace speclab {

/// "0.1.0".
std::string version_string();

/// "0.1.0 (commit 1234567890ab)"; the version alone where it was not built in a git repository. Of changes
/// that were not committed it says "with changes".
std::string version_and_commit();

/// SHA-256 of the sources that decide numbers, in 64 hexadecimal digits: programs with the same one give the
/// same results. Defined in a file that the build writes (scripts/cmake/hash_sources.cmake).
std::string program_sources();

/// Version, compiler, build type, CUDA and dependencies, one a line.
std::string build_description();

}  // namespace speclab
