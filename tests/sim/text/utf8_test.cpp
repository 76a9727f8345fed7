#include "sim/text/utf8.hpp"

#include <doctest/doctest.h>

using namespace speclab;

TEST_CASE("UTF-8 is told from what is not, at the byte where it stops") {
  CHECK_FALSE(first_not_utf8(""));
  CHECK_FALSE(first_not_utf8("plain"));
  CHECK_FALSE(first_not_utf8("γ – 数 😀"));
  CHECK(first_not_utf8("caf\xe9 ") == 3);           // Latin-1
  CHECK(first_not_utf8("ab\xc0\xaf") == 2);         // overlong
  CHECK(first_not_utf8("ab\xed\xa0\x80") == 2);     // a surrogate
  CHECK(first_not_utf8("\xf4\x90\x80\x80") == 0);   // beyond U+10FFFF
  CHECK(first_not_utf8("\xce\xb3 \xe2\x82") == 3);  // cut short
  CHECK(first_not_utf8("\xff") == 0);
}
