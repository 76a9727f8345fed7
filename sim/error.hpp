// The error that models throw if a file, a corpus or a table is wrong. Errors of the program itself are
// asserted.
#pragma once

#include <stdexcept>

namespace speclab {

/// The message names the file or value, what is wrong with it, and what was expected.
struct ModelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace speclab
