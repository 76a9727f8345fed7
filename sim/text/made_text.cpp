#include "sim/text/made_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "core/random/philox.hpp"

namespace speclab {

std::string made_text(std::size_t bytes) {
  constexpr double log_words = 13.8;  // a million
  const auto rank = [](Philox& stream) { return std::exp(std::pow(open_unit(stream()), 1.8) * log_words); };
  Philox stream(1, Site{0, 0, Draw{Use::world, 0}});
  std::string text;
  std::uint32_t before = 0;
  std::uint32_t last = 0;
  while (text.size() < bytes) {
    const double known = open_unit(stream());
    const auto choice = static_cast<std::uint32_t>(std::min(std::pow(open_unit(stream()), -1.2), 1e6));
    // The next word is drawn from a separate stream, addressed by the words before it.
    Philox follower(choice, Site{known < 0.4 ? before : 0, last, Draw{Use::world, 1}});
    const auto word = static_cast<std::uint32_t>(rank(known < 0.85 ? follower : stream));
    constexpr std::string_view marks = ",.;:'!?-\"()_";
    if (word <= marks.size()) {
      text += marks[word - 1];
    } else {
      text += ' ';
      for (std::uint32_t rest = word; rest > 0; rest /= 6) text += static_cast<char>('a' + rest % 26);
    }
    before = last;
    last = word;
  }
  return text;
}

}  // namespace speclab
