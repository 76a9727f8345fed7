// Makes rows from named arrays in any container: target [T, V], draft [T, V], tokens [T], sequence [T]; or
// logits [T, V] of one model, with a second file for the other.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/support/npy.hpp"
#include "experiments/recording/row_files.hpp"

namespace speclab {

/// Returns the rows of a file whose arrays are `names`. `find` returns an array by its name, or nothing.
/// Tokens, target and draft are required; without the optional sequence, all tokens form one. Throws
/// UsageError for other names, and for shapes and types that do not fit.
RowFile rows_of(const std::string& file, std::shared_ptr<const void> memory,
                const std::vector<std::string>& names,
                const std::function<std::optional<NpyArray>(const std::string& name)>& find);

}  // namespace speclab
