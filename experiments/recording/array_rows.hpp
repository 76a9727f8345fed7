// Rows from named arrays, however they are stored: target [T, V], draft [T, V], tokens [T], sequence [T]; or
// logits [T, V] of one model, with another file for the other.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "experiments/base/support/npy.hpp"
#include "experiments/recording/row_files.hpp"

namespace speclab {

/// `find` gives an array by its name, or nothing. Needs tokens, target and draft; sequence is optional,
/// without it everything is one. Throws UsageError for shapes and kinds that do not fit.
RowFile rows_of(const std::string& file, std::shared_ptr<const void> memory,
                const std::function<std::optional<NpyArray>(const std::string& name)>& find);

}  // namespace speclab
