// What is said when a file's content does not fit into memory.
#pragma once

#include <new>
#include <string>

#include "experiments/format/config_error.hpp"

namespace speclab {

/// read(), or UsageError that names the file when memory does not suffice for it.
template <class Read>
auto read_in_memory(const std::string& file, const Read& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    throw UsageError(file + ": what it holds, unpacked, needs more memory than there is; give a part of it");
  }
}

}  // namespace speclab
