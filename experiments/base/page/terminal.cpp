#include <array>
#include <string_view>

#include "experiments/base/page/passage.hpp"
#include "experiments/base/support/printable.hpp"

namespace speclab {
namespace {

struct Marks {
  std::string_view before;
  std::string_view after;
};

// The entries have the order of SpanKind.
constexpr std::array<Marks, 6> span_colours = {{{"", ""},
                                                {"\x1b[2m", "\x1b[0m"},
                                                {"\x1b[32m", "\x1b[0m"},
                                                {"\x1b[31;9m", "\x1b[0m"},
                                                {"\x1b[34m", "\x1b[0m"},
                                                {"\x1b[36m", "\x1b[0m"}}};
constexpr std::array<Marks, 6> span_brackets = {
    {{"", ""}, {"", ""}, {"", ""}, {"[-", "-]"}, {"{+", "+}"}, {"{*", "*}"}}};

}  // namespace

std::string terminal(const Passage& passage, bool colour) {
  std::string out;
  if (!passage.caption.empty()) out += printable(passage.caption, std::string::npos) + '\n';
  for (const auto& line : passage.lines) {
    for (const TextSpan& span : line) {
      const auto kind = static_cast<std::size_t>(span.kind);
      const Marks& marks = colour ? span_colours.at(kind) : span_brackets.at(kind);
      out.append(marks.before).append(printable(span.text, std::string::npos)).append(marks.after);
    }
    out += '\n';
  }
  return out;
}

}  // namespace speclab
