// Generates text for measurements that need more than can be shipped.
#pragma once

#include <cstddef>
#include <string>

namespace speclab {

/// Returns at least `bytes` bytes of words whose n-grams repeat somewhat less often than in real text: ranks
/// are log-uniform or steeper (Zipf), and 85 of 100 words are drawn from the usual followers of the last one
/// or two. About four bytes per word. Always the same text; a shorter one is the beginning of a longer one.
std::string made_text(std::size_t bytes);

}  // namespace speclab
