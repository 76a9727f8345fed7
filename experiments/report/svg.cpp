#include "experiments/report/svg.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "experiments/report/markup.hpp"

namespace speclab {
namespace {

// What precedes an id or a reference to one inside a tag, as gnuplot writes them.
constexpr std::array<std::string_view, 5> before_id = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};

void append_tag(std::string& out, std::string_view tag, std::string_view prefix) {
  for (std::size_t at = 0; at < tag.size();) {
    std::string_view found;
    for (const std::string_view mark : before_id) {
      if (tag.substr(at).starts_with(mark)) found = mark;
    }
    if (found.empty()) {
      out += tag[at++];
    } else {
      out.append(found).append(prefix);
      at += found.size();
    }
  }
}

// The text after the element that opens at `rest`, when it is one to drop; else `rest`.
std::string_view after_dropped(std::string_view rest) {
  for (const std::string_view name : {"title", "desc"}) {
    if (!rest.starts_with(fmt::format("<{}>", name))) continue;
    const std::string close = fmt::format("</{}>", name);
    const std::size_t end = rest.find(close);
    if (end != std::string_view::npos) return rest.substr(end + close.size());
  }
  return rest;
}

}  // namespace

std::string inline_svg(std::string_view document, std::string_view prefix, std::string_view label) {
  constexpr std::string_view opening = "<svg";
  const std::size_t begin = document.find(opening);
  const std::size_t close = document.rfind("</svg>");
  if (begin == std::string_view::npos || close == std::string_view::npos || close < begin) {
    throw std::runtime_error("cannot draw: gnuplot wrote no SVG");
  }
  std::string_view rest = document.substr(begin, close - begin);
  rest.remove_prefix(opening.size());
  std::string out = fmt::format("<svg role=\"img\" aria-label=\"{}\"", escape_markup(label));
  const std::size_t opened = rest.find('>') + 1;
  out.append(rest.substr(0, opened));
  rest.remove_prefix(opened);
  while (!rest.empty()) {
    const std::size_t text = rest.find('<');
    out.append(rest.substr(0, text));
    if (text == std::string_view::npos) break;
    rest.remove_prefix(text);
    const std::string_view kept = after_dropped(rest);
    if (kept.size() != rest.size()) {
      rest = kept;
      continue;
    }
    const std::size_t end = rest.find('>');
    const std::string_view tag = rest.substr(0, end == std::string_view::npos ? end : end + 1);
    append_tag(out, tag, prefix);
    rest.remove_prefix(tag.size());
  }
  return out + "</svg>";
}

}  // namespace speclab
