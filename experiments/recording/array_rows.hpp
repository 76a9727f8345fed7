// Rows from named arrays, however they are stored: target [T, V], draft [T, V], tokens [T], sequence [T]; or
// logits [T, V] of one model, with another file for the other.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "experiments/recording/row_files.hpp"

namespace speclab {

/// An array of numbers in C order, in memory.
struct NamedArray {
  enum class Kind { integer, f16, bf16, f32, f64, other };
  Kind kind = Kind::other;
  std::vector<std::size_t> shape;
  std::string_view data;
  std::shared_ptr<const void> memory;
  std::function<std::int64_t(std::size_t index)> integer;  ///< of integers
};

/// `find` gives an array by its name, or nothing. Needs tokens, target and draft; sequence is optional,
/// without it everything is one. Throws UsageError for shapes and kinds that do not fit.
RowFile rows_of(const std::string& file, std::shared_ptr<const void> memory,
                const std::function<std::optional<NamedArray>(const std::string& name)>& find);

}  // namespace speclab
