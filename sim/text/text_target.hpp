// A text itself as the target: greedy decoding of this model writes exactly the text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/drafters/point_rows.hpp"

namespace speclab {

/// Satisfies LanguageModel. A context must be the text's beginning: all probability is on the text's next
/// token, or past the end on its last one. `text` is not empty; it and `rows` must outlive the target.
struct TextTarget {
  std::span<const Token> text;
  const PointRows* rows;

  std::int32_t vocab() const { return rows->vocab(); }
  Row next(std::span<const Token> context, std::vector<double>&) const {
    return (*rows)[text[std::min(context.size(), text.size() - 1)]];
  }
};

}  // namespace speclab
