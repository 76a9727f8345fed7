// An integer for sums that 64 bits would hold for 2^32 terms only.
#pragma once

namespace speclab {

// GCC and Clang have the type in every mode, and warn about it under -Wpedantic unless told.
__extension__ using WideCount = unsigned __int128;

}  // namespace speclab
