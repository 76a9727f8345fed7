#include "experiments/support/printable.hpp"

#include <doctest/doctest.h>

#include <string>

#include "experiments/support/child_process.hpp"
#include "sim/text/utf8.hpp"

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

TEST_CASE("a word of a command is read back by a shell as it was") {
  CHECK(shell_word("configs/first.json") == "configs/first.json");
  for (const std::string text : {"", "a b", "it's", "\"x\"", "$HOME", "a\\b", "*", "~", "=ls", "a;b", "γ 数",
                                 "tab\tnewline\n", "caf\xe9", "' \x1b'"}) {
    CAPTURE(text);
    const auto echoed = run_child_process({"bash", "-c", "printf %s " + shell_word(text)});
    REQUIRE(echoed);
    CHECK(echoed->out == text);
    CHECK_FALSE(first_not_utf8(shell_word(text)));
  }
  CHECK(shell_command("speclab bench sim", {"--only", "a b"}) == "speclab bench sim --only 'a b'");
}
