// Decoded text as data, and its form for a terminal.
#pragma once

#include <string>
#include <vector>

namespace speclab {

/// The status of a part of decoded text.
enum class SpanKind { plain, prompt, accepted, rejected, correction, bonus };

struct TextSpan {
  std::string text;
  SpanKind kind = SpanKind::plain;
};

/// Decoded text, coloured by the status of each token, as in Leviathan et al. 2023, Figure 1.
struct Passage {
  std::string id;
  std::string caption;
  std::vector<std::vector<TextSpan>> lines;
};

/// Returns the passage in ANSI colours (accepted green, rejected red and struck through, correction blue,
/// bonus cyan, prompt faint) or, without colours, in word-diff marks: [-rejected-]{+correction+}{*bonus*}.
std::string terminal(const Passage& passage, bool colour);

}  // namespace speclab
