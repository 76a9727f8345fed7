// Logs whose rounds drafted different numbers of tokens.
#include <doctest/doctest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/log_comparison.hpp"
#include "serving/advisor/planning.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

std::string unequal_refusal(const std::string& text, const LogOptions& options = {}) {
  try {
    acceptance_in(text, "log", options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// Returns a page about 10,000 rounds with alpha = .8. A fifth of them drafted 7 tokens, the others 2.
std::string mixed_page(const std::string& model, int drafted) {
  std::string text = fmt::format(
      "vllm:spec_decode_num_drafts_total{{model_name=\"{0}\"}} 10000\n"
      "vllm:spec_decode_num_draft_tokens_total{{model_name=\"{0}\"}} {1}\n",
      model, drafted);
  int position = 0;
  for (const int accepted : {8000, 6400, 1024, 819, 655, 524, 419})
    text += fmt::format(
        "vllm:spec_decode_num_accepted_tokens_per_pos_total{{model_name=\"{}\",position=\"{}\"}} {}\n", model,
        position++, accepted);
  return text;
}

/// Returns a line of vLLM's log about 1,000 rounds of `length` drafts.
std::string vllm_line(int length, const std::vector<double>& rates) {
  double accepted = 0;
  std::vector<std::string> printed;
  for (const double rate : rates) {
    accepted += 1000 * rate;
    printed.push_back(fmt::format("{:.3f}", rate));
  }
  return fmt::format(
      "SpecDecoding metrics: Mean acceptance length: {:.2f}, Accepted: {:.0f} tokens, Drafted: {} tokens, Per-position "
      "acceptance rate: {}, Avg Draft acceptance rate: {:.1f}%\n",
      1 + accepted / 1000, accepted, 1000 * length, fmt::join(printed, ", "), accepted / (10.0 * length));
}

const std::vector<double> seven{.8, .64, .512, .41, .328, .262, .21};

bool says_lengths(const AcceptanceFile& log, const std::string& words) {
  for (const std::string& warning : log.warnings) {
    if (warning.find(words) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("totals of rounds of several lengths give no plan, but another model of the page does") {
  const std::string refusal = unequal_refusal(mixed_page("m", 30000));
  CHECK(refusal.find("30000 tokens were drafted in 10000 rounds, 57.1% fewer") != std::string::npos);
  CHECK(refusal.find("α is between 0.65") != std::string::npos);
  CHECK(refusal.find("give a log of single rounds") != std::string::npos);
  const std::string two = mixed_page("m", 30000) + mixed_page("n", 70000);
  CHECK(unequal_refusal(two, {.model = "m"}).find("57.1%") != std::string::npos);
  CHECK(unequal_refusal(two, {.model = "n"}).empty());
  // The same counts as one record without positions.
  CHECK(unequal_refusal("acc,n,rounds\n17841,26000,10000\n",
                        {.fields = {{"accepted", "acc"}, {"drafted", "n"}, {"rounds", "rounds"}}})
            .find("13.3% fewer") != std::string::npos);
  const TempFile mixed(mixed_page("m", 30000));
  const TempFile equal(mixed_page("m", 70000));
  CHECK_THROWS_WITH_AS(compare_logs({.first = equal.path().string(), .second = mixed.path().string()}),
                       doctest::Contains("57.1% fewer"), UsageError);
}

TEST_CASE(
    "positions that no round of a record drafted are not counted, also where they are filled with zeros") {
  const std::vector<double> two{.8, .64};
  const std::vector<double> filled{.8, .64, 0, 0, 0, 0, 0};
  const AcceptanceFile short_lists = acceptance_in(vllm_line(7, seven) + vllm_line(2, two), "log");
  const AcceptanceFile zeros = acceptance_in(vllm_line(7, seven) + vllm_line(2, filled), "log");
  for (const AcceptanceFile* log : {&short_lists, &zeros}) {
    CHECK(log->counts.examined == std::vector<std::uint64_t>{2000, 1600, 640, 512, 410, 328, 262});
    CHECK(log->counts.accepted == std::vector<std::uint64_t>{1600, 1280, 512, 410, 328, 262, 210});
    CHECK(log->drafted == 9000);
    CHECK(says_lengths(*log, "Rounds drafted 2 to 7 tokens"));
  }
  // A page all of whose rounds drafted 2, after one whose rounds drafted 7.
  const AcceptanceFile page = acceptance_in(
      "vllm:spec_decode_num_drafts_total 100\nvllm:spec_decode_num_draft_tokens_total 200\n"
      "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"0\"} 80\n"
      "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"1\"} 64\n"
      "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"2\"} 0\n",
      "log");
  CHECK(page.counts.examined == std::vector<std::uint64_t>{100, 80});
  CHECK(page.warnings.empty());
}

TEST_CASE("records of means count each with its own number of drafted tokens") {
  // With alpha = 1/2 and 128 rounds, drafts of 7 tokens accept 127, drafts of 2 accept 96.
  const auto iteration = [](int drafted, int accepted) {
    return fmt::format(
        R"({{"specDecodingStats": {{"numDraftTokens": {}, "numAcceptedTokens": {}, "numRequestsWithDraftTokens": 128}}}})"
        "\n",
        128 * drafted, accepted);
  };
  const AcceptanceFile log = acceptance_in(iteration(7, 127) + iteration(2, 96), "log");
  CHECK(log.longest() == 7);
  CHECK(logged_acceptance(log, 0.95).alpha.estimate == doctest::Approx(0.5));
  CHECK(says_lengths(log, "Rounds drafted 2 to 7 tokens"));
  CHECK(acceptance_in(iteration(7, 127) + iteration(7, 127), "log").warnings.empty());
}

TEST_CASE("a log whose drafts stop early is warned of, and one with short last rounds is not") {
  std::string early = "drafted,accepted\n";
  std::string cut = early;
  for (int round = 0; round < 400; ++round) {
    early += fmt::format("{},{}\n", 1 + round % 8, round % 8);
    cut += fmt::format("{},{}\n", round % 100 == 99 ? 3 : 5, round % 4);
  }
  CHECK(says_lengths(acceptance_in(early, "log"), "Rounds drafted 1 to 8 tokens. If a draft stops"));
  CHECK(acceptance_in(cut, "log").warnings.empty());
}
