#include "experiments/base/page/markup.hpp"

#include <map>

namespace speclab {

std::string escape_markup(std::string_view text) {
  static const std::map<char, std::string_view> references{
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string out;
  out.reserve(text.size());
  for (const char letter : text) {
    const auto found = references.find(letter);
    out += found == references.end() ? std::string_view(&letter, 1) : found->second;
  }
  return out;
}

bool is_markup_id(std::string_view id) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  constexpr std::size_t letters = 52;
  return id.find_first_of(allowed.substr(0, letters)) == 0 &&
         id.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace speclab
