// Describes the version and the sources from which this program was built.
#pragma once

#include <string>

namespace speclab {

/// Returns "0.1.0".
std::string version_string();

/// Returns "0.1.0 (commit 1234567890ab)", or the version alone if it was not built in a git repository. Adds
/// "with changes" if there were changes that were not committed.
std::string version_and_commit();

/// Returns the SHA-256 of the sources that decide numbers, as 64 hexadecimal digits: programs with the same
/// hash give the same results. Defined in a file that the build writes (scripts/cmake/hash_sources.cmake).
std::string program_sources();

/// Returns version, compiler, build type, CUDA and dependencies, one per line.
std::string build_description();

}  // namespace speclab
