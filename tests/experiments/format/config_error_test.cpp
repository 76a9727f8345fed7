#include "experiments/format/config_error.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

TEST_CASE("an error holds other people's text as a terminal may show it, whole and short") {
  const std::string hostile("a\0b\x1b[31m\xff", 9);
  CHECK(ConfigError("/" + hostile, hostile).sentence() == R"(/a\x00b\x1b[31m\xff: a\x00b\x1b[31m\xff)");
  CHECK(std::string(UsageError(hostile).what()) == R"(a\x00b\x1b[31m\xff)");
  CHECK(ConfigError("/", std::string(1'000'000, 'k')).sentence().size() < 5000);
}

TEST_CASE("the nearest name is suggested, and a word of a megabyte is compared with none") {
  CHECK(suggestion("gama", {"alpha", "gamma"}) == "; did you mean \"gamma\"?");
  CHECK(suggestion("x", {"alpha", "gamma"}) == "; known: alpha, gamma");
  CHECK(suggestion("slrum", {"local", "slurm", "parallel"}) == "; did you mean \"slurm\"?");
  // By the product of both lengths this would take 10^12 steps and as many numbers.
  const std::string long_word(1'000'000, 'k');
  CHECK(suggestion(long_word, {long_word + "k"}).starts_with("; known: "));
}

TEST_CASE("of several near names the longest common beginning comes first, and all are listed") {
  CHECK(suggestion("h100", {"a100-sxm", "h100-sxm", "h100-pcie", "h200", "b200"}) ==
        "; did you mean \"h100-sxm\", \"h100-pcie\" or \"h200\"?");
  CHECK(suggestion("llama-3-70b", {"llama-2-70b", "llama-3.1-70b", "llama-3.1-8b", "qwen-2.5-72b"}) ==
        "; did you mean \"llama-3.1-70b\" or \"llama-2-70b\"?");
  CHECK(suggestion("H100", {"a10", "h100-sxm", "h100-pcie", "h200"}) ==
        "; did you mean \"h100-sxm\", \"h100-pcie\" or \"h200\"?");
  // None is near: those of the same family.
  CHECK(suggestion("qwen3-32b", {"llama-2-7b", "qwen2.5-0.5b", "qwen2.5-72b"}) ==
        "; did you mean \"qwen2.5-72b\" or \"qwen2.5-0.5b\"?");
}

TEST_CASE("what cannot fit into memory is refused at its path, what can is not") {
  CHECK(config_error_of([] {
          require_memory(1e18, "/check/samples", "all of these");
        }).starts_with("/check/samples: all of these need at least 1e+09 GB of memory"));
  CHECK(config_error_of([] { require_memory(1, "/check/samples", "one"); }).empty());
}
