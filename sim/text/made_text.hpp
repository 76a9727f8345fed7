// Text out of nothing, for measurements that need more of it than can be shipped.
#pragma once

#include <cstddef>
#include <string>

namespace speclab {

/// At least `bytes` bytes of words in which n-grams return as in print, and rather more rarely: ranks are
/// log-uniform or steeper (Zipf), and 85 of 100 words are one of the usual followers of the last one or two.
/// Four bytes a word. Always the same text; a shorter one is the beginning of a longer.
std::string made_text(std::size_t bytes);

}  // namespace speclab
