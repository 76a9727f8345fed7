// A 128-bit integer for sums: 64 bits would hold only 2^32 terms.
#pragma once

namespace speclab {

// GCC and Clang have the type in every mode, but warn about it under -Wpedantic without __extension__.
__extension__ using WideCount = unsigned __int128;

}  // namespace speclab
