// Makes rows from named arrays in any container: target [T, V], draft [T, V], tokens [T], sequence [T]; or
// logits [T, V] of one model, with a second file for the other.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "experiments/base/support/npy.hpp"
#include "experiments/recording/row_files.hpp"

namespace speclab {

/// Returns the rows. `find` looks an array up by name. Tokens, target and draft are required; without
/// `sequence`, all tokens form one sequence. Throws UsageError for shapes and types that do not fit.
RowFile rows_of(const std::string& file, std::shared_ptr<const void> memory,
                const std::function<std::optional<NpyArray>(const std::string& name)>& find);

}  // namespace speclab
