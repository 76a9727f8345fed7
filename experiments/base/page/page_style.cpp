#include <fmt/format.h>

#include "experiments/base/page/colours.hpp"
#include "experiments/base/page/page_assets.hpp"

namespace speclab {

namespace {

// The explorer uses the same colours, so that accepted, rejected and corrected tokens look alike on every
// page.
constexpr std::string_view light_colours =
    "--ground: #fff; --ink: #1b1b1b; --faint: #565656; --line: #d4d4d4; --soft: #f3f4f6; --link: #0b5394; "
    "--accepted: #0b6b3a; --rejected: #b3261e; --correction: #0b4fa8; --bonus: #6a3d9a; --bad-ground: "
    "#fdf0ee;";
constexpr std::string_view dark_colours =
    "--ground: #15181c; --ink: #e8e8e8; --faint: #a9b0b8; --line: #454b53; --soft: #22272d; --link: #7ab8f5; "
    "--accepted: #5fd39b; --rejected: #ff8f85; --correction: #82b4ff; --bonus: #c9a4f2; --bad-ground: "
    "#3a1f1d;";

std::string colour_classes(const std::array<const char*, 12>& palette, std::string_view scope) {
  std::string css;
  for (std::size_t i = 0; i < palette.size(); ++i)
    css += fmt::format("{} .c{} {{ color: {}; }}\n", scope, i, palette.at(i));
  return css;
}

}  // namespace

std::string page_style() {
  constexpr std::string_view follows = ":root:not([data-theme=light])";
  constexpr std::string_view chosen = ":root[data-theme=dark]";
  return fmt::format(
      "\n:root {{ color-scheme: light; {} }}\n{}@media (prefers-color-scheme: dark) {{\n{} {{ color-scheme: "
      "dark; {} }}\n{}}}\n"
      "{} {{ color-scheme: dark; {} }}\n{}\n{}",
      light_colours, colour_classes(light_palette, ""), follows, dark_colours,
      colour_classes(dark_palette, follows), chosen, dark_colours, colour_classes(dark_palette, chosen),
      page_css);
}

}  // namespace speclab
