// Decoded text as plain data, and as a terminal shows it.
#pragma once

#include <string>
#include <vector>

namespace speclab {

/// What became of a stretch of decoded text.
enum class SpanKind { plain, prompt, accepted, rejected, correction, bonus };

struct TextSpan {
  std::string text;
  SpanKind kind = SpanKind::plain;
};

/// Text coloured by what became of it, as in Leviathan et al. 2023, Figure 1.
struct Passage {
  std::string id;
  std::string caption;
  std::vector<std::vector<TextSpan>> lines;
};

/// The passage in ANSI colours (accepted green, rejected red and struck out, correction blue, bonus cyan,
/// prompt faint), or without colours in word-diff marks: [-rejected-]{+correction+}{*bonus*}.
std::string terminal(const Passage& passage, bool colour);

}  // namespace speclab
