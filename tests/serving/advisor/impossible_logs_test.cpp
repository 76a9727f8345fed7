// Logs of trees, of mixed settings, of drafters that pause, and with fewer emitted tokens than were accepted.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <string>

#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/acceptance_file.hpp"

using namespace speclab;

namespace {

/// Returns the error of a log; empty if it is read.
std::string log_error(const std::string& text, const LogOptions& options = {}) {
  try {
    acceptance_in(text, "log", options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const char* words) {
  CAPTURE(text);
  CAPTURE(words);
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("SGLang's pages of trees, or of ranks with different drafts, are refused") {
  const std::string counters =
      "sglang:spec_verify_calls_total{dp_rank=\"0\"} 1000\nsglang:generation_tokens_total{dp_rank=\"0\"} 2500\n"
      "sglang:spec_num_steps{dp_rank=\"0\"} 5\n";
  CHECK(log_error(counters).empty());
  CHECK(log_error(counters + "sglang:spec_num_draft_tokens{dp_rank=\"0\"} 6\n").empty());
  // A counter of drafted tokens is no setting.
  CHECK(log_error(counters + "sglang:spec_num_draft_tokens_total{dp_rank=\"0\"} 700\n").empty());
  const std::string tree = log_error(counters + "sglang:spec_num_draft_tokens{dp_rank=\"0\"} 32\n");
  CHECK(has(tree, "32 tokens are verified after 5 steps"));
  CHECK(has(tree, "trees"));
  // DFlash drafts a whole chain in one step. A tree of one step cannot accept more than one token a round.
  const std::string block =
      "sglang:spec_num_steps 1\nsglang:spec_num_draft_tokens 8\nsglang:spec_verify_calls_total 1000\n";
  CHECK(acceptance_in(block + "sglang:generation_tokens_total 4300\n", "log").longest() == 7);
  CHECK(has(log_error(block + "sglang:generation_tokens_total 1900\n"), "trees"));
  const std::string other = "sglang:spec_num_steps{dp_rank=\"1\"} 3\n";
  CHECK(has(log_error(counters + other), "spec_num_steps is 3, but 5 before"));
  CHECK(has(log_error(other + counters), "spec_num_steps is 5, but 3 before"));
  const std::string info =
      R"({"speculative_num_steps": 5, "speculative_num_draft_tokens": 32, "internal_states": [{"avg_spec_accept_length": 3.0}]})";
  CHECK(has(log_error(info), "trees"));
}

TEST_CASE("iterations of TensorRT-LLM that did not draft count as runs of the target") {
  const auto iterations = [](const std::string& undrafted) {
    std::string text;
    for (int i = 0; i < 6; ++i)
      text +=
          R"({"numActiveRequests": 1, "specDecodingStats": {"numDraftTokens": 4, "numAcceptedTokens": 2, "numRequestsWithDraftTokens": 1}})"
          "\n" +
          undrafted;
    return text;
  };
  CHECK(log_error(iterations("")).empty());
  CHECK(has(
      log_error(iterations(
          R"({"numActiveRequests": 1, "specDecodingStats": {"numDraftTokens": 0, "numAcceptedTokens": 0, "numRequestsWithDraftTokens": 0}})"
          "\n")),
      "drafted in 6 of 12 runs"));
  CHECK(has(
      log_error(iterations(
          R"({"numActiveRequests": 1, "inflightBatchingStats": {"numGenRequests": 1}, "specDecodingStats": null})"
          "\n")),
      "drafted in 6 of 12 runs"));
  // An iteration that reads a prompt decodes nothing.
  CHECK(
      log_error(
          iterations(
              R"({"numActiveRequests": 1, "inflightBatchingStats": {"numContextRequests": 1, "numGenRequests": 0}})"
              "\n"))
          .empty());
}

TEST_CASE("fewer emitted tokens than rounds and accepted tokens give are refused, unless texts were cut") {
  const auto page = [](int emitted, const std::string& more) {
    return fmt::format(
        "vllm:spec_decode_num_drafts_total 1000\nvllm:spec_decode_num_draft_tokens_total 3000\n"
        "vllm:spec_decode_num_accepted_tokens_total 1500\nvllm:spec_decode_num_accepted_tokens_per_pos_total{{position="
        "\"0\"}} 800\nvllm:spec_decode_num_accepted_tokens_per_pos_total{{position=\"1\"}} 500\n"
        "vllm:spec_decode_num_accepted_tokens_per_pos_total{{position=\"2\"}} 200\nvllm:generation_tokens_total {}\n{}",
        emitted, more);
  };
  CHECK(has(log_error(page(1000, "")), "1500 accepted tokens in 1000 rounds"));
  CHECK(log_error(page(2510, "vllm:time_to_first_token_seconds_count 10\n")).empty());
  // The last rounds of 100 texts were cut by 2 tokens.
  CHECK(log_error(page(2400, "vllm:time_to_first_token_seconds_count 100\n")).empty());
  CHECK(has(log_error(page(2300, "vllm:time_to_first_token_seconds_count 10\n")), "but 23"));
  const auto bench = [](int emitted, int failed) {
    return fmt::format(
        "Successful requests: 200\nFailed requests: {}\nTotal generated tokens: {}\nDrafts: 1000\nDraft tokens: 3000\n"
        "Accepted tokens: 1530\n",
        failed, emitted);
  };
  CHECK(has(log_error(bench(265, 0)), "1530 accepted tokens in 1000 rounds"));
  CHECK(log_error(bench(2730, 0)).empty());
  // The tokens of requests that failed are not among the emitted ones.
  CHECK(log_error(bench(265, 3)).empty());
  const auto llama = [](int task, int emitted) {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "slot update_slots: id  0 | task 7 | accepted 3/4 draft tokens\n";
    return text +
           fmt::format("slot print_timing: id  0 | task {} |\n       eval time = 100.00 ms / {} tokens\n",
                       task, emitted);
  };
  CHECK(has(log_error(llama(7, 30)), "300 accepted tokens in 100 rounds"));
  CHECK(log_error(llama(7, 401)).empty());
  CHECK(log_error(llama(8, 30)).empty());
}

TEST_CASE("counters that stand at 0 say that nothing was drafted") {
  const std::string page =
      "vllm:spec_decode_num_drafts_total 100\nvllm:spec_decode_num_draft_tokens_total 200\n"
      "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"0\"} 80\n"
      "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"1\"} 64\n";
  CHECK(log_error(page).empty());
  CHECK(log_error(page, {.earlier = page, .earlier_file = "before"}) == "log: no token was drafted");
}
