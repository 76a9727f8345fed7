#include "experiments/base/support/printable.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace speclab;

TEST_CASE("a terminal is shown control characters and broken text, and does not obey them") {
  CHECK(printable("γ = 3\nnext") == "γ = 3\nnext");
  CHECK(printable(std::string("a\x1b[31mb\0c\x7f\r", 11)) == R"(a\x1b[31mb\x00c\x7f\x0d)");
  CHECK(printable("\xc2\x9b"
                  "31m") == R"(\xc2\x9b31m)");
  CHECK(printable("caf\xe9") == R"(caf\xe9)");
}

TEST_CASE("megabytes are shortened in the middle, between characters") {
  const std::string key(3'000'000, 'k');
  const std::string shown = printable("config.json: " + key + ": unknown key");
  CHECK(shown.size() < 4200);
  CHECK(shown.starts_with("config.json: kkk"));
  CHECK(shown.ends_with("kkk: unknown key"));
  CHECK(shown.find("bytes left out") != std::string::npos);
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "γ";
  for (int shift = 0; shift < 2; ++shift) {
    CHECK(printable(std::string(static_cast<std::size_t>(shift), 'a') + many).find("\\x") ==
          std::string::npos);
  }
}

TEST_CASE("what changes the direction of text, or is drawn as nothing, is shown by its code point") {
  CHECK(printable("a\u202egnp.exe") == R"(a\u202egnp.exe)");
  CHECK(printable("a\u2066b\u200bc\ufeffd\u2028e") == R"(a\u2066b\u200bc\ufeffd\u2028e)");
  CHECK(printable("नमस्ते 👩\u200d🔬") == "नमस्ते 👩\u200d🔬");
  CHECK(printable_line("one\ntwo") == R"(one\x0atwo)");
}
