#include "experiments/base/support/shell_word.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

#include "experiments/base/support/child_process.hpp"
#include "sim/text/utf8.hpp"

using namespace speclab;

namespace {

/// Checks that every available shell reads the word back as the text.
void check_read_back(const std::string& text) {
  CAPTURE(text);
  const std::string word = shell_word(text);
  CHECK_FALSE(first_not_utf8(word));
  CHECK(word.find('\x1b') == std::string::npos);
  for (const char* const shell : {"sh", "dash", "bash"}) {
    CAPTURE(shell);
    const auto echoed = run_child_process({shell, "-c", "printf %s " + word});
    if (echoed) CHECK(echoed->out == text);
  }
}

}  // namespace

TEST_CASE("a word of a command is read back by sh, dash and bash as it was") {
  CHECK(shell_word("configs/first.json") == "configs/first.json");
  CHECK(shell_word("cost$(touch x).json") == "'cost$(touch x).json'");
  for (const std::string text :
       {"",        "a b",     "it's",     "\"x\"",    "$HOME", "$(touch x)", "`touch x`",      "a\\b",
        "a\\",     "*",       "~",        "=ls",      "a;b",   "γ 数",       "tab\tnewline\n", "\n\n",
        "caf\xe9", "' \x1b'", "\x81\x82", "a\u202eb", "%s\\n"})
    check_read_back(text);
}

TEST_CASE("random bytes are read back by sh, dash and bash as they were") {
  std::mt19937 random(7);
  const std::string likely = "'\"\\$`\n !*?[]{}()<>|&;#~%-\x1b\x7f\x81\xc2\xe2\x80\xae";
  for (int i = 0; i < 100; ++i) {
    std::string text;
    for (std::size_t length = random() % 12 + 1; text.size() < length;)
      text += random() % 2 == 0 ? likely[random() % likely.size()] : static_cast<char>(random() % 255 + 1);
    check_read_back(text);
  }
}

TEST_CASE("values and files are never read as options") {
  CHECK(shell_command("speclab bench kernels", {"--only", "a b"}) == "speclab bench kernels --only 'a b'");
  CHECK(shell_line(option_words("--out", "x")) == "--out x");
  CHECK(shell_line(option_words("--out", "--json")) == "--out=--json");
  CHECK(file_argument("-x.json") == "./-x.json");
  CHECK(file_argument("configs/first.json") == "configs/first.json");
}
