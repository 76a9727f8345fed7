#include "experiments/base/format/config_error.hpp"

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

TEST_CASE("no line of a message is longer than a screen of text, and a path is short") {
  const std::string many(5000, 'k');
  CHECK(ConfigError("/" + many, many).sentence().size() < 1600);
  CHECK(UsageError("{}\n{}", many, many).what() ==
        std::string(UsageError(many).what()) + "\n" + UsageError(many).what());
  CHECK(std::string(UsageError(many).what()).size() < 1100);
}

TEST_CASE("what a model throws of a config names the config") {
  const auto refused = [] {
    in_file("config.json", []() -> int { throw ModelError("a model produced a row that holds NaN"); });
  };
  CHECK_THROWS_AS(refused(), ConfigError);
  try {
    refused();
  } catch (const ConfigError& error) {
    CHECK(error.sentence() == "config.json: a model produced a row that holds NaN");
  }
}

TEST_CASE("of many names of which none is near a few are named") {
  std::vector<std::string> many;
  for (int i = 0; i < 200; ++i) many.push_back("name" + std::to_string(i));
  const std::string said = suggestion("temperature", many);
  CHECK(said.starts_with("; of 200 names the nearest are name"));
  CHECK(said.size() < 100);
  CHECK(near_suggestion("temperature", many).empty());
  CHECK(near_suggestion("nam17", many) == suggestion("nam17", many));
}

TEST_CASE("the nearest name is suggested, and a word of a megabyte is compared with none") {
  CHECK(suggestion("gama", {"alpha", "gamma"}) == "; did you mean \"gamma\"?");
  CHECK(suggestion("gama", {"gamma", "gamma"}) == "; did you mean \"gamma\"?");
  CHECK(suggestion("x", {"alpha", "gamma"}) == "; known: alpha, gamma");
  CHECK(suggestion("slrum", {"local", "slurm", "parallel"}) == "; did you mean \"slurm\"?");
  // In the product of both lengths this would take 10^12 steps and as many numbers.
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
  // If no name is near, names of the same family are suggested.
  CHECK(suggestion("qwen3-32b", {"llama-2-7b", "qwen2.5-0.5b", "qwen2.5-72b"}) ==
        "; did you mean \"qwen2.5-72b\" or \"qwen2.5-0.5b\"?");
}

TEST_CASE("what cannot fit into memory is refused at its path, what can is not") {
  CHECK(config_error_of([] {
          require_memory(1e18, "/check/samples", "all of these");
        }).starts_with("/check/samples: all of these need at least 1e+09 GB of memory"));
  CHECK(config_error_of([] { require_memory(1, "/check/samples", "one"); }).empty());
}
