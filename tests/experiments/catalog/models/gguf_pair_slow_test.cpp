// Tests the model kind "gguf" on our own pair (configs/neural).
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/verify/check/equality_test.hpp"
#include "sim/sequences.hpp"
#include "sim/text/gguf_tokenizer.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

const bool no_pair_runs = !has_libllama();

Setup our_pair(int batch, double temperature, const std::string& rule = "token") {
  const std::string folder = std::string(SPECLAB_SOURCE_DIR) + "/configs/neural/";
  return build_setup(
      read_config({{"title", "t"},
                   {"seed", test_seed(4)},
                   {"sampling", {{"temperature", temperature}}},
                   {"models",
                    {{"target", {{"kind", "gguf"}, {"file", folder + "target.gguf"}, {"batch", batch}}},
                     {"draft", {{"kind", "gguf"}, {"file", folder + "draft.gguf"}}}}},
                   {"rule", {{"kind", rule}}},
                   {"simulation", {{"trials", 5}, {"length", 1}, {"prompt", "It is a truth"}}}}));
}

}  // namespace

TEST_CASE("our own pair: greedy speculative text is greedy plain text over 2,000 tokens" *
          doctest::skip(no_pair_runs)) {
  Setup setup = our_pair(5, 0);
  setup.simulation.prompts.clear();
  for (const char* word : {"She", "The file", "template", "He was", "Click"}) {
    setup.simulation.prompts.push_back(setup.vocabulary->tokens(word));
  }
  constexpr std::size_t length = 400;
  const auto plain = plain_sequences(setup.target, setup.rule.sampled, setup.simulation, length);
  CHECK(plain.size() == 2000);
  CHECK(speculative_sequences(setup.target, setup.draft, setup.rule.sampled, 4, setup.simulation, length) ==
        plain);
}

// Null: the first two tokens have the target's distribution. Level 1e-9; vocabulary 2,048; the reference is a
// second sample.
TEST_CASE("our own pair: speculative text has the target's distribution, and the test would see a fault" *
          doctest::skip(no_pair_runs)) {
  const CheckSection settings{.tokens = 2, .samples = 10000, .level = 1e-9};
  const auto tested_rule = [&](const std::string& rule) {
    return test_equality(our_pair(1, 1, rule), 1, settings, Control{}).value();
  };
  const EqualityResult found = tested_rule("token");
  CHECK(found.reference == EqualityReference::second_sample);
  CHECK_FALSE(found.different);
  CHECK(found.detectable_between_classes < 0.15);
  // Most pairs of tokens are rare and share classes, within which changes are not seen.
  CHECK(found.detectable_total_variation > 0.5);
  CHECK(tested_rule("fault-resample-target").different);
}
