// Adapts the sources to a WebAssembly build; scripts/build_explorer.sh includes this file first.
#pragma once

// Random123 knows processors by name and refuses others. Its only processor-specific code for compilers like
// this one is for x86 and PowerPC, so any other known name selects the portable multiplication. Tests compare
// the bits with the native program's (tests/explorer).
#define __riscv 1
#include <Random123/philox.h>
#undef __riscv

// 128-bit integers need a stricter alignment here than operator new guarantees; exact fractions work without
// them.
#include <boost/config.hpp>
#undef BOOST_HAS_INT128

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

// Functions that this libc++ lacks.
namespace std {
template <class To, class From>
constexpr To bit_cast(const From& value) {
  return __builtin_bit_cast(To, value);
}

/// Writes the shortest digits that are read back as the same number.
inline to_chars_result to_chars(char* first, char* last, double value, chars_format) {
  constexpr int enough = 17;
  char digits[32];
  int length = 0;
  for (int more = 0; more < enough; ++more) {
    length = snprintf(digits, sizeof(digits), "%.*e", more, value);
    if (strtod(digits, nullptr) == value) break;
  }
  if (last - first < length) return {last, errc::value_too_large};
  return {copy(digits, digits + length, first), errc{}};
}

inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  // strtod also accepts white space, a plus sign and hexadecimal numbers, which from_chars rejects.
  const char* at = first + (first != last && *first == '-' ? 1 : 0);
  const bool begins = at != last && ((*at >= '0' && *at <= '9') || *at == '.' || *at == 'i' || *at == 'n');
  if (!begins || (at + 1 != last && *at == '0' && (at[1] == 'x' || at[1] == 'X')))
    return {first, errc::invalid_argument};
  const string text(first, last);
  char* end = nullptr;
  const double read = strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  value = read;
  return {first + (end - text.c_str()), errc{}};
}

namespace ranges {
template <class Range, class Value>
auto count(const Range& range, const Value& value) {
  return std::count(begin(range), end(range), value);
}
template <class Range, class Value>
auto find(const Range& range, const Value& value) {
  return std::find(begin(range), end(range), value);
}
template <class Range, class Is>
auto find_if(const Range& range, const Is& is) {
  return std::find_if(begin(range), end(range), is);
}
template <class Range, class Is>
bool any_of(const Range& range, const Is& is) {
  return std::any_of(begin(range), end(range), is);
}
template <class Range, class Is>
bool all_of(const Range& range, const Is& is) {
  return std::all_of(begin(range), end(range), is);
}
template <class Range, class Value>
void fill(Range& range, const Value& value) {
  std::fill(begin(range), end(range), value);
}
}  // namespace ranges
}  // namespace std
