// What models throw when the outside world is wrong: a file, a corpus, a table. Inside, assert.
#pragma once

#include <stdexcept>

namespace speclab {

/// The message names the file or value, what is wrong with it, and what was expected.
struct ModelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace speclab
