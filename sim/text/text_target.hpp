// A text itself as the target: the model that would write exactly this text when decoded greedily.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/drafters/point_rows.hpp"

namespace speclab {

/// Satisfies LanguageModel. A context must be the text's own beginning, up to its length: all probability
/// goes to the token that comes next. Past the end it goes to the last token again. `text` is not empty; it
/// and `rows` must outlive the target.
struct TextTarget {
  std::span<const Token> text;
  const PointRows* rows;

  std::int32_t vocab() const { return rows->vocab(); }
  Row next(std::span<const Token> context, std::vector<double>&) const {
    return (*rows)[text[std::min(context.size(), text.size() - 1)]];
  }
};

}  // namespace speclab
