// Logs in the shapes that people paste, with invented numbers whose right values are worked out here, and
// logs that are refused with the numbers that contradict each other.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv.hpp"
#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/log_format.hpp"
#include "serving/advisor/planning.hpp"

using namespace speclab;

namespace {

/// Returns the alpha for a mean of accepted tokens of `gamma` drafted, by a search of its own.
double alpha_by_search(double mean, int gamma) {
  double low = 0;
  double high = 1;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (int k = 1; k <= gamma; ++k) sum += std::pow(middle, k);
    (sum < mean ? low : high) = middle;
  }
  return low;
}

std::string reason_of(const std::string& text, const LogOptions& options) {
  try {
    acceptance_in(text, "log", options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string serve_text(int requests, int generated, const std::string& counts) {
  return fmt::format(
      "============ Serving Benchmark Result ============\nSuccessful requests:          {}\n"
      "Total generated tokens:       {}\n---------------Speculative Decoding---------------\n"
      "Acceptance rate (%):          1.00\n{}==================================================\n",
      requests, generated, counts);
}

const std::string serve_counts =
    "Drafts:             400\nDraft tokens:        1200\nAccepted tokens:      648\nPer-position acceptance (%):\n"
    "  Position 0:         79.00\n  Position 1:         52.50\n  Position 2:         30.50\n";

std::string offline_text(int emitted, const std::string& rates) {
  return fmt::format(
      "--------------------\ntotal_num_output_tokens: {}\nnum_drafts: 2000\nnum_draft_tokens: 4000\n"
      "num_accepted_tokens: 2500\nmean acceptance length: 2.25\n--------------------\n{}",
      emitted, rates);
}

const std::string offline_rates = "acceptance at token 0: 0.75\nacceptance at token 1: 0.50\n";

std::string sglang_args(int steps, int branches, int nodes) {
  return fmt::format(
      "[2026-03-01 09:00:00] server_args=ServerArgs(speculative_algorithm='EAGLE3', speculative_num_steps={}, "
      "speculative_eagle_topk={}, speculative_num_draft_tokens={})\n",
      steps, branches, nodes);
}

const std::string decode_lines =
    "[2026-03-01 09:00:10 TP0] Decode batch. #running-req: 1, #token: 900, accept len: 2.50, cuda graph: True\n"
    "[2026-03-01 09:00:11 TP0] Decode batch. #running-req: 3, #token: 980, accept len: 2.70, cuda graph: True\n";

std::string server_info(int branches, int nodes) {
  return fmt::format(
      R"({{"speculative_algorithm": "EAGLE3", "speculative_num_steps": 4, "speculative_eagle_topk": {}, )"
      R"("speculative_num_draft_tokens": {}, "internal_states": [{{"avg_spec_accept_length": 3.0}}, )"
      R"({{"avg_spec_accept_length": 3.2}}]}})",
      branches, nodes);
}

/// A page of an early version, or of the V0 engine if it has emitted tokens.
std::string early_page(const std::string& more) {
  return "vllm:spec_decode_num_draft_tokens_total{model_name=\"m\"} 400\n"
         "vllm:spec_decode_num_accepted_tokens_total{model_name=\"m\"} 300\n"
         "vllm:spec_decode_draft_acceptance_rate{model_name=\"m\"} 0.75\n" +
         more;
}

/// Lines about ten seconds with 60 rounds, which drafted 240 tokens and accepted 120.
std::string v1_log(int tokens_a_second) {
  return fmt::format(
      "INFO [loggers.py:123] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: {}.0 tokens/s\n"
      "INFO [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 3.00, Accepted throughput: 12.00 tokens/s, "
      "Drafted throughput: 24.00 tokens/s, Accepted: 120 tokens, Drafted: 240 tokens, Per-position acceptance rate: "
      "0.800, 0.600, 0.400, 0.200, Avg Draft acceptance rate: 50.0%\n",
      tokens_a_second);
}

struct ReadCase {
  const char* format;
  std::string text;
  LogOptions options;
  std::uint64_t rounds;  ///< 0: not counted
  double accepted;       ///< tokens per round
  int gamma;
  /// Tokens accepted at the last position, if the log has positions: they determine the examined tokens.
  std::optional<std::uint64_t> full;
};

std::vector<ReadCase> vllm_cases() {
  return {
      {"vllm_log", v1_log(18), {}, 60, 2, 4, 12},
      {"vllm_log",
       "SpecDecoding metrics: Draft acceptance rate: 60.0%, Accepted: 360 tokens, Drafted: 600 tokens\n",
       {.drafted = 3},
       200,
       1.8,
       3,
       {}},
      // 316 + 210 + 122 = 648 accepted of 400 rounds.
      {"bench_serve", serve_text(10, 1058, serve_counts), {}, 400, 1.62, 3, 122},
      {"bench_serve",
       serve_text(
           10, 1058,
           "Acceptance length (server):  2.62\nDraft tokens: 1200\nAccepted tokens: 648\nDrafts: 400\n"),
       {},
       400,
       1.62,
       3,
       {}},
      // Two benchmarks of one file are summed.
      {"bench_serve",
       serve_text(10, 1058, serve_counts) + serve_text(11, 1059, serve_counts),
       {},
       800,
       1.62,
       3,
       244},
      {"bench_serve_json",
       R"({"model_id": "m", "completed": 10, "total_output_tokens": 1058, "spec_decode_num_drafts": 400,
           "spec_decode_draft_tokens": 1200, "spec_decode_accepted_tokens": 648,
           "spec_decode_per_position_acceptance_rates": [0.79, 0.525, 0.305]})",
       {},
       400,
       1.62,
       3,
       122},
      // 400 drafted tokens are 200 rounds of 2, which accepted 300, or emitted 450.
      {"vllm_metrics", early_page(""), {.drafted = 2}, 200, 1.5, 2, {}},
      {"vllm_metrics",
       early_page("vllm:spec_decode_num_emitted_tokens_total{model_name=\"m\"} 450\n"),
       {.drafted = 2},
       200,
       1.25,
       2,
       {}},
      {"vllm_metrics",
       early_page("vllm:spec_decode_num_drafts_total{model_name=\"m\"} 200\n"),
       {},
       200,
       1.5,
       2,
       {}},
      {"vllm_offline", offline_text(4600, offline_rates), {}, 2000, 1.25, 2, 1000},
  };
}

std::vector<ReadCase> other_cases() {
  const std::string llama_rounds =
      "slot update_slots: id  0 | task 7 | accepted {}/{} draft tokens, new n_tokens = 9\n";
  const auto round = [&](int accepted, int drafted) {
    return fmt::format(fmt::runtime(llama_rounds), accepted, drafted);
  };
  return {
      // A streamed response counts from its start: the last part alone is read.
      {"llama_server_response",
       "data: {\"id\": \"a\", \"timings\": {\"predicted_n\": 100, \"draft_n\": 160, \"draft_n_accepted\": 59}}\n\n"
       "data: {\"id\": \"a\", \"timings\": {\"predicted_n\": 300, \"draft_n\": 493, \"draft_n_accepted\": 175}}\n\n"
       "data: [DONE]\n",
       {.drafted = 4},
       124,
       175 / 124.0,
       4,
       {}},
      {"llama_server_response",
       "data: {\"stop\": false, \"timings\": {\"predicted_n\": 100, \"draft_n\": 160, \"draft_n_accepted\": 59}}\n\n"
       "data: {\"stop\": true, \"timings\": {\"predicted_n\": 300, \"draft_n\": 493, \"draft_n_accepted\": 175}}\n",
       {.drafted = 4},
       124,
       175 / 124.0,
       4,
       {}},
      {"llama_server_log",
       round(2, 4) + round(0, 4) + round(4, 4) + round(4, 4) + round(1, 4),
       {},
       5,
       11 / 5.0,
       4,
       2},
      // Verbose logs print a round twice.
      {"llama_server_log",
       "slot update_slots: id  0 | task 7 | accepted  3/ 4 draft tokens\n" + round(3, 4) +
           "slot update_slots: id  0 | task 7 | accepted  4/ 4 draft tokens\n" + round(4, 4),
       {},
       2,
       3.5,
       4,
       1},
      // Weights 1 and 3: 1.65 accepted of 3.
      {"sglang_log", sglang_args(3, 1, 4) + decode_lines, {}, 0, 1.65, 3, {}},
      // A block of 8 has 7 drafts, whatever its number of steps.
      {"sglang_log", sglang_args(1, 1, 8) + decode_lines, {}, 0, 1.65, 7, {}},
      {"sglang_info", server_info(1, 5), {}, 0, 2.1, 4, {}},
      {"sglang_info", serve_text(10, 1000, "Accept length:         2.60\n"), {.drafted = 3}, 0, 1.6, 3, {}},
      // 300 - 175 - 1 = 124 runs drafted 4 each, but for the last.
      {"lm_studio",
       R"({"stats": {"predictedTokensCount": 300, "totalDraftTokensCount": 493, "acceptedDraftTokensCount": 175}})",
       {.drafted = 4},
       124,
       175 / 124.0,
       4,
       {}},
      {"lm_studio_rest",
       R"({"model": "m", "usage": {"completion_tokens": 300}, "stats": {"total_draft_tokens_count": 493,
           "accepted_draft_tokens_count": 175}})",
       {.drafted = 4},
       124,
       175 / 124.0,
       4,
       {}},
  };
}

struct RefusedCase {
  std::string text;
  LogOptions options;
  std::vector<std::string> words;
};

std::vector<RefusedCase> refused_cases() {
  const std::string totals =
      R"({"stats": {"predictedTokensCount": 300, "totalDraftTokensCount": {0}, "acceptedDraftTokensCount": 175}})";
  const auto lm_studio = [&](int drafted) {
    std::string text = totals;
    return text.replace(text.find("{0}"), 3, std::to_string(drafted));
  };
  const std::string page =
      "vllm:spec_decode_num_drafts_total 50\nvllm:spec_decode_num_draft_tokens_total 100\n"
      "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"0\"} 40\n"
      "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"1\"} 20\n"
      "vllm:generation_tokens_total 570\nvllm:time_to_first_token_seconds_count 10\n";
  return {
      {page.substr(page.find('\n') + 1) + "vllm:spec_decode_num_accepted_tokens_total 60\n",
       {},
       {"needs samples of vllm:spec_decode_num_drafts"}},
      // Trees: (2.65 - 1) / 15 and 2.65 / 16.
      {sglang_args(4, 4, 16) + decode_lines, {}, {"trees", "2.65", "0.1100", "0.1656"}},
      {server_info(8, 32), {}, {"trees", "3.1", "0.0677", "0.0969"}},
      {"speculative_adaptive=True, " + sglang_args(3, 1, 4) + decode_lines,
       {},
       {"speculative_adaptive=True"}},
      {"{\"speculative_adaptive\": true}\n" + server_info(1, 5), {}, {"do not say"}},
      {sglang_args(3, 1, 4) + decode_lines + sglang_args(5, 1, 6) + decode_lines, {}, {"is 5, but 3 before"}},
      // 570 - 60 - 10 = 500 runs; 50 of them drafted: 1.12 tokens a run, not 2.2.
      {page, {}, {"50 of 500 runs", "1.12 tokens a run"}},
      {serve_text(10, 2058, serve_counts), {}, {"400 of 1400 runs", "1.46 tokens a run"}},
      {offline_text(10500, offline_rates), {}, {"2000 of 8000 runs"}},
      {R"({"usage": {"completion_tokens": 501}, "metrics": {"speculative_decoding": {"acceptance_histogram": [20, 10, 20]}}})",
       {},
       {"51 of 450 runs"}},
      {"statistics ngram: #calls(b,g,a) = 2 600 12, #gen drafts = 12, #gen tokens = 480, #acc tokens = 300\n",
       {},
       {"12 of 600 runs", "1.5 tokens a run"}},
      {"slot print_timing: | eval time = 10.0 ms / 201 tokens\n"
       "slot print_timing: | draft acceptance = 0.5 ( 100 accepted / 200 generated), mean acceptance length = 6.00\n",
       {},
       {"21 of 99 runs"}},
      {"slot update_slots: | accepted 3/4 draft tokens, new n_tokens = 9\n"
       "slot print_timing: | eval time = 10.0 ms / 54 tokens\n",
       {},
       {"1 of 50 runs"}},
      {"slot update_slots: | accepted 2/4 draft tokens (restore checkpoint)\n"
       "slot update_slots: | accepted 2/2 draft tokens\n",
       {},
       {"count them twice"}},
      // Totals of a request are no round, and say how many tokens a run of the target emitted.
      {lm_studio(493), {}, {"300 tokens emitted and 175 accepted are 2.4 tokens a run", "--drafted N"}},
      {lm_studio(260), {.drafted = 4}, {"260 tokens drafted in 124 runs", "2.41 tokens a run"}},
      {lm_studio(493), {.drafted = 3}, {"340 emitted tokens, but 300 were emitted"}},
      {sglang_args(3, 1, 4) + decode_lines, {.drafted = 5}, {"--drafted 5", "says itself"}},
      // Counts that contradict each other, with both numbers.
      {"Drafts: 300\n" + serve_counts.substr(serve_counts.find("Draft tokens")),
       {},
       {"1200 tokens drafted in 300 rounds of at most 3"}},
      {offline_text(4600, "acceptance at token 0: 0.50\nacceptance at token 1: 0.75\n"),
       {},
       {"position 2 was accepted 1500 times, more than the 1000 before it"}},
      {offline_text(4600, "acceptance at token 0: 0.75\nacceptance at token 1: 0.30\n"),
       {},
       {"2500 accepted tokens in 2000 rounds"}},
      {offline_text(4600, "acceptance at token 0: 0.75\nacceptance at token 2: 0.50\n"),
       {},
       {"is not about position 1"}},
      {serve_text(10, 1058, "Acceptance length: 2.70\n" + serve_counts), {}, {"length: is 2.7", "give 2.62"}},
      {early_page(""), {}, {"--drafted N"}},
      {early_page("vllm:generation_tokens_total{model_name=\"m\"} 2000\n"),
       {.drafted = 2},
       {"200 of 1700 runs"}},
      {R"({"completed": 10, "total_output_tokens": 1058, "spec_decode_num_drafts": 400, "spec_decode_draft_tokens": 1200,
           "spec_decode_accepted_tokens": 648, "spec_decode_acceptance_length": 2.7})",
       {},
       {"log: spec_decode_acceptance_length is 2.7", "give 2.62"}},
      {serve_text(10, 1058, "Drafts: 400\nAccepted tokens: 648\n"), {}, {"no \"Draft tokens:\""}},
      {"SpecDecoding metrics: Draft acceptance rate: 60.0%, Accepted: 360 tokens, Drafted: 600 tokens\n",
       {},
       {"--drafted N"}},
      {R"({"meta_info": {"completion_tokens": 501, "spec_verify_ct": 50, "spec_num_correct_drafts": 100, "spec_num_proposed_drafts": 200}})",
       {},
       {"51 of 400 runs"}},
      {R"([{"inflightBatchingStats": {"numGenRequests": 8}, "specDecodingStats": {"numDraftTokens": 6,
            "numAcceptedTokens": 4, "numRequestsWithDraftTokens": 2}}])",
       {},
       {"2 of 8 runs", "1.5 tokens a run"}},
      // 6 rounds of 4 drafted tokens and 54 other runs a second emitted 6 + 12 + 54 tokens.
      {v1_log(72), {}, {"60 of 600 runs", "1.2 tokens a run"}},
      // In ten further seconds nothing was drafted, so that there is no line about drafts.
      {v1_log(18) + "Engine 000: Avg generation throughput: 30.0 tokens/s\n", {}, {"60 of 360 runs"}},
      // 20 of 100 runs drafted, and all of it was accepted: two tokens a run, not six.
      {[] {
         std::string rounds = "drafted,accepted\n";
         for (int i = 0; i < 100; ++i) rounds += i % 5 == 0 ? "5,5\n" : "0,0\n";
         return rounds;
       }(),
       {},
       {"20 of 100 runs", "2 tokens a run"}},
      {R"({"model_id": "m", "choices": [{"accept_lengths": [3, 1]}]})", {}, {"trees", "--drafted N"}},
      {"{\"drafted\": 300, \"accepted\": 150}\n", {}, {"300 tokens drafted", "totals of a request"}},
      {"Drafts: 400\nDraft tokens: 1,200\nAccepted tokens: 648\n", {}, {"no count", "Draft tokens:"}},
      {"Drafts: 2k\nDraft tokens: 1200\nAccepted tokens: 648\n", {}, {"no count", "Drafts:"}},
      {"drafted,accepted\n5,3,9\n", {}, {"3 values", "the header has 2"}},
  };
}

}  // namespace

TEST_CASE("logs that people paste give the values that follow from their counts") {
  std::set<std::string> formats;
  std::vector<ReadCase> cases = vllm_cases();
  for (ReadCase& one : other_cases()) cases.push_back(std::move(one));
  for (const ReadCase& one : cases) {
    CAPTURE(one.format);
    CAPTURE(one.text);
    formats.insert(one.format);
    const AcceptanceFile log = acceptance_in(one.text, "log", one.options);
    CHECK(log.format == one.format);
    CHECK(log.longest() == static_cast<std::size_t>(one.gamma));
    const double alpha = logged_acceptance(log, .95).alpha.estimate;
    if (one.full) {
      REQUIRE_FALSE(log.means.has_value());
      CHECK(log.counts.rounds == one.rounds);
      const auto rounds = static_cast<double>(one.rounds);
      const auto full = static_cast<double>(*one.full);
      // A round examines one token more than it accepts, unless it accepts all.
      CHECK(alpha == doctest::Approx(one.accepted * rounds / (rounds + one.accepted * rounds - full)));
    } else {
      REQUIRE(log.means.has_value());
      CHECK(log.means->rounds == one.rounds);
      CHECK(log.means->accepted == doctest::Approx(one.accepted));
      // The mean number of drafted tokens is below gamma where a request's last round was short.
      if (log.means->drafted == one.gamma)
        CHECK(alpha == doctest::Approx(alpha_by_search(one.accepted, one.gamma)).epsilon(1e-9));
      CHECK(std::abs(log.means->drafted - one.gamma) < .1);
    }
  }
  CHECK(formats.size() == 11);
}

TEST_CASE("logs that contradict themselves, or are not of one chain a round, are refused with the numbers") {
  for (const RefusedCase& one : refused_cases()) {
    CAPTURE(one.text);
    const std::string reason = reason_of(one.text, one.options);
    for (const std::string& word : one.words) {
      CAPTURE(reason);
      CAPTURE(word);
      CHECK(reason.find(word) != std::string::npos);
    }
  }
}

TEST_CASE("rounded rates give counts near them, and all numbers of full rounds that print so") {
  std::mt19937 random(20261128);
  int open = 0;
  for (int trial = 0; trial < 300; ++trial) {
    // True counts of 3 positions, printed with two decimals.
    const auto rounds = static_cast<std::uint64_t>(50 + random() % 1500);
    std::vector<std::uint64_t> truth;
    std::uint64_t before = rounds;
    for (int i = 0; i < 3; ++i) truth.push_back(before = random() % (before + 1));
    std::vector<double> rates;
    for (const std::uint64_t count : truth)
      rates.push_back(std::round(100 * static_cast<double>(count) / static_cast<double>(rounds)) / 100);
    const std::uint64_t accepted = truth[0] + truth[1] + truth[2];
    ModelLog log;
    add_rounded(log, "log",
                {.accepted = accepted,
                 .drafted = 3 * rounds,
                 .rates = rates,
                 .rate_rounding = .005,
                 .rounds = rounds});
    // By brute force, all counts that print as these rates and add up.
    const auto prints = [&](std::uint64_t count, double rate) {
      return std::abs(static_cast<double>(count) / static_cast<double>(rounds) - rate) <= .005 + 1e-9;
    };
    std::uint64_t low = rounds;
    std::uint64_t high = 0;
    for (std::uint64_t last = 0; last <= rounds; ++last) {
      if (!prints(last, rates[2])) continue;
      for (std::uint64_t first = 0; first + last <= accepted && first <= rounds; ++first) {
        if (!prints(first, rates[0]) || !prints(accepted - last - first, rates[1])) continue;
        low = std::min(low, last);
        high = std::max(high, last);
        break;
      }
    }
    REQUIRE(low <= high);
    if (accepted == 0) continue;
    CAPTURE(trial);
    const std::uint64_t found = log.counts.accepted.back();
    CHECK(found - log.full_fewer == low);
    CHECK(found + log.full_more == high);
    open += low < high ? 1 : 0;
  }
  CHECK(open > 100);
}

TEST_CASE("the range of alpha by rounded rates is said, unless it is too small to matter") {
  const AcceptanceFile offline = acceptance_in(offline_text(4600, offline_rates), "log");
  // 990 to 1010 of 2000 rounds print as 0.50: 2500 / (4500 - 990) and 2500 / (4500 - 1010).
  REQUIRE(offline.warnings.size() == 1);
  CHECK(offline.warnings[0].find("between 0.7123 and 0.7163") != std::string::npos);
  CHECK(acceptance_in(serve_text(10, 1058, serve_counts), "log").warnings.empty());
}

TEST_CASE(
    "rounds longer than servers draft are refused as totals, unless --drafted says that they are rounds") {
  const std::string text = "90,41\n99,53\n77,34\n";
  for (const LogOptions& options : {LogOptions{}, LogOptions{.drafted = 90}})
    CHECK(reason_of(text, options).find("drafted 88.67 tokens") != std::string::npos);
  CHECK(acceptance_in(text, "log", {.drafted = 99}).rounds.size() == 3);
  CHECK(reason_of("id,d,a\n1,55,40\n2,42,25\n", {.fields = {{"drafted", "d"}, {"accepted", "a"}}})
            .find("--fields rounds") != std::string::npos);
}

TEST_CASE("--drafted is refused where emitted tokens contradict it, too small and too large") {
  // 20 rounds of 4 drafted 80 tokens, accepted 50 and emitted 70, and the prompt's run one.
  const std::vector<std::string> logs = {
      R"({"timings": {"predicted_n": 71, "draft_n": 80, "draft_n_accepted": 50}})",
      R"({"stats": {"predictedTokensCount": 71, "totalDraftTokensCount": 80, "acceptedDraftTokensCount": 50}})",
      "slot print_timing: |  eval time = 10.0 ms / 71 tokens\n"
      "draft acceptance rate = 0.62500 ( 50 accepted / 80 generated)\n",
      "slot print_timing: id  0 |\n       eval time = 10.0 ms / 71 tokens\n"
      "draft acceptance rate = 0.62500 ( 50 accepted / 80 generated)\n"};
  for (const std::string& text : logs) {
    CAPTURE(text);
    const AcceptanceFile log = acceptance_in(text, "log", {.drafted = 4});
    REQUIRE(log.means.has_value());
    CHECK(log.means->rounds == 20);
    CHECK(log.means->accepted == doctest::Approx(2.5));
    for (const int wrong : {1, 2, 3}) {
      const std::string reason = reason_of(text, {.drafted = wrong});
      CAPTURE(reason);
      CHECK(reason.find("but 71 were emitted") != std::string::npos);
    }
    CHECK(reason_of(text, {.drafted = 8}).find("80 tokens drafted in 20 runs") != std::string::npos);
  }
  // More accepted than emitted, whatever --drafted says.
  for (const int any : {1, 5, 100})
    CHECK(reason_of(R"({"timings": {"predicted_n": 30, "draft_n": 80, "draft_n_accepted": 50}})",
                    {.drafted = any})
              .find("but 30 were emitted") != std::string::npos);
  CHECK(reason_of(
            R"({"timings": {"predicted_n": 3, "draft_rounds": 1, "draft_n": 6, "draft_n_accepted": 5}})", {})
            .find("but 3 were emitted") != std::string::npos);
}

TEST_CASE("a line without readable rates is refused, and colours and idle lines change nothing") {
  const std::string begin =
      "SpecDecoding metrics: Mean acceptance length: 2.40, Accepted: 140 tokens, Drafted: ";
  const std::string rates = "200 tokens, Per-position acceptance rate: ";
  const std::string end = ", Avg Draft acceptance rate: 70.0%\n";
  const std::string line = begin + rates + "0.800, 0.600" + end;
  CHECK(acceptance_in(line, "log").counts.accepted == std::vector<std::uint64_t>{80, 60});
  for (const char* broken : {"80.0%, 60.0%", "[0.800, 0.600]", "", "0.800, 60.0%", "nan, nan"}) {
    CAPTURE(broken);
    for (const std::string& text : {line + begin + rates + broken + end, begin + rates + broken + end})
      CHECK(reason_of(text, {}).find("log:" + std::string(text.starts_with(line) ? "2" : "1") +
                                     ": the rates") == 0);
  }
  CHECK(reason_of(line + begin + "200 tokens, Per-position\n", {}).find("log:2: no \"Per-position") == 0);
  const std::string idle =
      "SpecDecoding metrics: Mean acceptance length: nan, Accepted: 0 tokens, Drafted: 0 tokens, "
      "Per-position acceptance rate: , Avg Draft acceptance rate: nan%\n";
  const std::string coloured = begin + rates + "\x1b[1m0.800\x1b[0m, 0.600" + end;
  CHECK(acceptance_in(line + idle + coloured, "log").counts.accepted == std::vector<std::uint64_t>{160, 120});
  const AcceptanceFile more = acceptance_in(begin + rates + "0.800, 0.600, Dropped: 7 tokens" + end, "log");
  REQUIRE(more.warnings.size() == 1);
  CHECK(more.warnings[0].find("Dropped: 7 tokens") != std::string::npos);
}

TEST_CASE("trees of SGLang are refused in responses and by options of the command line") {
  const auto response = [](const std::string& histogram, int accepted, int drafted) {
    return fmt::format(
        R"({{"meta_info": {{"completion_tokens": {}, "spec_verify_ct": 60, "spec_num_correct_drafts": {}, )"
        R"("spec_num_proposed_drafts": {}, "spec_correct_drafts_histogram": {}}}}})",
        60 + accepted, accepted, drafted, histogram);
  };
  // 60 runs drafted 12 nodes each and accepted 0 to 3: 90 accepted, 2.5 tokens a run.
  const std::string tree = response("[15, 15, 15, 15]", 90, 720);
  CHECK(reason_of(tree, {}).find("2.5 tokens were emitted a run") != std::string::npos);
  CHECK(reason_of(tree, {.drafted = 6}).find("of trees there is no") != std::string::npos);
  CHECK(acceptance_in(tree, "log", {.drafted = 12}).counts.examined.size() == 12);
  // A chain of 3 whose rounds accepted two at most: one of them could end there.
  CHECK(acceptance_in(response("[40, 19, 1]", 21, 180), "log").counts.examined.size() == 3);
  const std::string options =
      "+ --speculative-num-steps 4 --speculative-eagle-topk {} --speculative-num-draft-tokens {}\n";
  CHECK(reason_of(fmt::format(fmt::runtime(options), 8, 32) + decode_lines, {.drafted = 4}).find("trees") !=
        std::string::npos);
  CHECK(acceptance_in(fmt::format(fmt::runtime(options), 1, 5) + decode_lines, "log").longest() == 4);
  CHECK(reason_of(sglang_args(3, 1, 4) + decode_lines, {.drafted = 5}).find("leave it out") !=
        std::string::npos);

  // Chains of 8 with acceptance 0.6, with 30 rounds each. False alarms are below 0.1; at 0.1 and 400 files
  // the number of alarms exceeds 60 with probability 0.001.
  std::mt19937 random(20261129);
  std::bernoulli_distribution accepts(0.6);
  int alarms = 0;
  for (int file = 0; file < 400; ++file) {
    std::vector<int> histogram;
    int kept = 0;
    for (int round = 0; round < 60; ++round) {
      std::size_t length = 0;
      while (length < 8 && accepts(random)) ++length;
      if (histogram.size() <= length) histogram.resize(length + 1);
      ++histogram[length];
      kept += static_cast<int>(length);
    }
    std::string list;
    for (const int count : histogram) list += (list.empty() ? "[" : ", ") + std::to_string(count);
    alarms += reason_of(response(list + "]", kept, 480), {}).empty() ? 0 : 1;
  }
  CHECK(alarms <= 60);
}

TEST_CASE("every record counts, and counts that contradict a record's others are refused with both numbers") {
  const auto vllm = [](const std::string& more) {
    return "{\"metrics\": {\"speculative_decoding\": {\"num_draft_tokens\": 60" + more + "}}}\n";
  };
  const std::string sums = ", \"num_spec_steps\": 20, \"num_accepted_draft_tokens\": 24";
  const std::string histogram = ", \"acceptance_histogram\": [8, 4, 4, 4]";
  CHECK(acceptance_in(vllm(histogram + sums), "log").counts.accepted == std::vector<std::uint64_t>{12, 8, 4});
  for (const std::string& without : {vllm(sums), vllm(sums + ", \"acceptance_histogram\": null")}) {
    const AcceptanceFile both = acceptance_in(vllm(histogram + sums) + without, "log");
    REQUIRE(both.means.has_value());
    CHECK(both.means->rounds == 40);
    CHECK(both.means->accepted == doctest::Approx(1.2));
  }
  const std::string trtllm =
      R"({"choices": [{"speculative_decoding": {"total_accepted_draft_tokens": 24, "total_draft_tokens": 60,
          "num_spec_steps": 20, "acceptance_histogram": [8, 4, 4, 4]}}]})";
  CHECK(acceptance_in(trtllm, "log").counts.rounds == 20);
  CHECK(acceptance_in(vllm(histogram + ", \"num_tree_nodes\": 64"), "log").warnings.size() == 1);
  const std::string page =
      "llamacpp:spec_decode_num_drafts_total 20\nllamacpp:spec_decode_num_draft_tokens_total 40\n"
      "llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position=\"0\"} 15\n"
      "llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position=\"1\"} 9\n"
      "llamacpp:spec_decode_num_accepted_tokens_total ";
  CHECK(acceptance_in(page + "24\n", "log").counts.rounds == 20);
  const auto sglang = [](const std::string& more) {
    return "{\"meta_info\": {\"spec_correct_drafts_histogram\": [8, 4, 4, 4]" + more + "}}\n";
  };
  const auto iteration = [](const char* length) {
    return fmt::format(
        R"([{{"specDecodingStats": {{"numDraftTokens": 12, "numAcceptedTokens": 6, "numRequestsWithDraftTokens": 4, "acceptanceLength": {}}}}}])",
        length);
  };
  CHECK(acceptance_in(iteration("2.5"), "log").means->accepted == doctest::Approx(1.5));
  const std::vector<RefusedCase> cases = {
      {vllm(histogram + ", \"num_spec_steps\": 200"), {}, {"num_spec_steps is 200", "give 20"}},
      {vllm(histogram + ", \"num_accepted_draft_tokens\": 42"), {}, {"is 42", "give 24"}},
      {vllm(histogram + ", \"mean_acceptance_length\": 3.1"), {}, {"is 3.1", "give 2.2"}},
      {vllm(", \"num_accepted_draft_tokens\": 24" + histogram) + vllm(", \"num_spec_steps\": 20"),
       {},
       {"num_accepted_draft_tokens: missing"}},
      {sglang(", \"spec_verify_ct\": 200"), {}, {"spec_verify_ct is 200", "give 20"}},
      {sglang(", \"spec_verify_ct\": 20, \"spec_num_correct_drafts\": 42"), {}, {"is 42", "give 24"}},
      {sglang(", \"spec_verify_ct\": 20, \"spec_accept_length\": 3.1"), {}, {"is 3.1", "give 2.2"}},
      {sglang(", \"spec_verify_ct\": 20, \"completion_tokens\": 30"), {}, {"but 30 were emitted"}},
      {sglang(", \"spec_verify_ct\": 20") + sglang(""), {}, {"spec_verify_ct: missing"}},
      {iteration("3.5"), {}, {"acceptanceLength is 3.5", "give 2.5"}},
      {page + "42\n", {}, {"is 42", "give 24"}},
      {page + "24\n" + page + "24\n", {}, {"log:6: ", "came before, at log:1", "--since"}},
      {"draft acceptance rate = 0.40000 ( 50 accepted / 80 generated)\n",
       {.drafted = 4},
       {"is 0.4", "0.625"}},
      {vllm(histogram + ", \"draft_acceptance_rate\": 0.9"), {}, {"is 0.9", "give 0.4"}},
      {vllm(", \"per_step_accepted\": [3, 1], \"per_step_drafted\": [3, 3], \"num_spec_steps\": 43"),
       {},
       {"num_spec_steps is 43", "give 2"}},
      {vllm(", \"acceptance_histogram\": [5, 3], \"acceptance_histogram\": [3, 5]") + vllm(histogram),
       {},
       {"log:1: ", "\"acceptance_histogram\" occurs twice"}},
      {"SpecDecoding metrics: Mean acceptance length: 2.25, Accepted throughput: 0.50 tokens/s, Drafted throughput: "
       "0.80 tokens/s, Accepted: 5 tokens, Drafted: 8 tokens, Per-position acceptance rate: 0.750, 0.500, Avg Draft "
       "acceptance rate: 99.9%\n",
       {},
       {"is 99.9", "give 62.5"}},
      {"drafted,accepted,rounds\n20,12,4\n", {}, {"log:1: ", "rounds=rounds"}},
      {"{\"drafted\": 20, \"accepted\": 12, \"rounds\": 4}\n", {}, {"log:1: ", "rounds=rounds"}},
      {"1,0\n2,0\n3,0\n4,0\n1,0\n2,0\n3,0\n4,0\n", {}, {"log:5: ", "repeated"}},
  };
  for (const RefusedCase& one : cases) {
    CAPTURE(one.text);
    const std::string reason = reason_of(one.text, one.options);
    CAPTURE(reason);
    for (const std::string& word : one.words) CHECK(reason.find(word) != std::string::npos);
  }
}

TEST_CASE("a drafter is chosen before it is judged, and means of ranks without drafts are passed over") {
  const std::string log =
      "statistics first: #calls(b,g,a) = 3 200 0, #gen drafts = 0, #gen tokens = 0, #acc tokens = 0\n"
      "statistics second: #calls(b,g,a) = 3 200 4, #gen drafts = 4, #gen tokens = 160, #acc tokens = 40\n"
      "statistics third: #calls(b,g,a) = 3 196 196, #gen drafts = 196, #gen tokens = 392, #acc tokens = 294\n";
  CHECK(acceptance_in(log, "log", {.model = "third"}).means->accepted == doctest::Approx(1.5));
  CHECK(reason_of(log, {.model = "second"}).find("4 of 200 runs") != std::string::npos);
  CHECK(reason_of(log, {}).find("--model third") != std::string::npos);
  const AcceptanceFile ranks = acceptance_in(
      R"({"speculative_num_steps": 3, "internal_states": [{"avg_spec_accept_length": null}, {"avg_spec_accept_length": 2.2}, {"avg_spec_accept_length": 2.8}]})",
      "log");
  REQUIRE(ranks.means.has_value());
  CHECK(ranks.means->accepted == doctest::Approx(1.5));
  CHECK(ranks.warnings.size() == 1);
}

TEST_CASE("a drafted length that zeros at the end of a histogram leave out is read") {
  const AcceptanceFile log = acceptance_in(
      R"({"metrics": {"speculative_decoding": {"acceptance_histogram": [100, 50], "num_spec_tokens": 5}}})",
      "log");
  CHECK(log.longest() == 5);
  CHECK(log.counts.total_examined() == 200);
}

TEST_CASE("a server was started again if any of its counters fell") {
  const auto line = [](int rounds, int drafted, int accepted) {
    return fmt::format(
        "statistics draft: #calls = {0}, #gen drafts = {0}, #gen tokens = {1}, #acc tokens = {2}\n", rounds,
        drafted, accepted);
  };
  const AcceptanceFile log = acceptance_in(line(87, 174, 100) + line(90, 180, 20), "log");
  CHECK(log.means->rounds == 177);
  CHECK(log.means->accepted == doctest::Approx(120.0 / 177));
}

TEST_CASE("an earlier page of another server, of another run or of other settings is refused") {
  const auto page = [](const std::string& labels, int rounds, int created, int steps) {
    return fmt::format(
        "sglang:spec_verify_calls_total{{{0}}} {1}\nsglang:spec_verify_calls_created{{{0}}} {2}\n"
        "sglang:generation_tokens_total{{{0}}} {3}\nsglang:spec_num_steps{{{0}}} {4}\n"
        "sglang:num_running_reqs{{{0}}} {5}\n",
        labels, rounds, created, 2 * rounds, steps, 9000 - rounds);
  };
  const std::string m = "model_name=\"m\"";
  const auto after = [&](const std::string& earlier) {
    return reason_of(page(m, 3000, 7, 3), {.earlier = earlier, .earlier_file = "before"});
  };
  CHECK(after(page(m, 1000, 7, 3)).empty());
  CHECK(after(page("model_name=\"n\"", 1000, 7, 3)).find("before has no such") != std::string::npos);
  CHECK(after("# empty\n").find("before has no such") != std::string::npos);
  CHECK(after(page(m, 1000, 6, 3)).find("created was 6") != std::string::npos);
  CHECK(after(page(m, 1000, 7, 4)).find("spec_num_steps was 4") != std::string::npos);
  CHECK(after(page(m, 1000, 7, 3) + page("model_name=\"n\"", 10, 7, 3)).find("is not in log") !=
        std::string::npos);
  const auto started = [&](const char* then, const char* now) {
    const std::string start = "process_start_time_seconds ";
    return reason_of(start + now + "\n" + page(m, 3000, 7, 3),
                     {.earlier = start + then + "\n" + page(m, 1000, 7, 3), .earlier_file = "before"});
  };
  CHECK(started("1.0e9", "1.0e9").empty());
  CHECK(started("1.0e9", "1.1e9").find("process_start_time_seconds was 1.0e9") != std::string::npos);
  CHECK(started("1.0e9 1760000000000", "1.0e9 1760000060000").empty());
}

TEST_CASE("means of rounds of several lengths say how far alpha is open") {
  // 20 rounds drafted 58 and accepted 40. 1 to 18 of them had a rejection: 40 / 41 and 40 / 58.
  const auto drafted = [](int tokens) {
    return fmt::format(
        R"({{"timings": {{"predicted_n": 61, "draft_rounds": 20, "draft_n": {}, "draft_n_accepted": 40}}}})",
        tokens);
  };
  const AcceptanceFile log = acceptance_in(drafted(58), "log");
  REQUIRE(log.warnings.size() == 1);
  CHECK(log.warnings[0].find("between 0.6897 and 0.9756") != std::string::npos);
  CHECK(acceptance_in(drafted(60), "log").warnings.empty());
  CHECK(reason_of(drafted(50), {}).find("between 0.8 and 0.9756") != std::string::npos);
}

TEST_CASE("one line of another format in a log is refused, or changes nothing") {
  struct Sample {
    const LogFormat* format;
    std::vector<std::string> lines;
    LogOptions options;
  };
  std::vector<Sample> samples;
  for (const LogFormat& format : log_formats()) {
    if (std::string(format.name) == "named_fields") continue;
    Sample& sample = samples.emplace_back(Sample{&format, {}, {}});
    for (const TextLine& line : lines_of(format.sample, "")) sample.lines.push_back(line.text);
    if (reason_of(format.sample, {}).find("--drafted N") != std::string::npos) sample.options.drafted = 5;
  }
  const auto alike = [](const AcceptanceFile& one, const AcceptanceFile& other) {
    if (one.format != other.format || one.means.has_value() != other.means.has_value()) return false;
    if (one.means) {
      return one.means->rounds == other.means->rounds && one.means->drafted == other.means->drafted &&
             one.means->accepted == other.means->accepted;
    }
    return one.counts.examined == other.counts.examined && one.counts.accepted == other.counts.accepted &&
           one.drafted == other.drafted;
  };
  int named = 0;
  int unchanged = 0;
  for (const Sample& log : samples) {
    const AcceptanceFile alone = acceptance_in(log.format->sample, "log", log.options);
    for (const Sample& other : samples) {
      if (&other == &log) continue;
      for (const std::string& stray : other.lines) {
        for (const std::size_t at : {std::size_t{0}, log.lines.size() / 2, log.lines.size()}) {
          std::string text;
          for (std::size_t i = 0; i <= log.lines.size(); ++i) {
            if (i == at) text += stray + "\n";
            if (i < log.lines.size()) text += log.lines[i] + "\n";
          }
          CAPTURE(text);
          try {
            CHECK(alike(acceptance_in(text, "log", log.options), alone));
            ++unchanged;
          } catch (const UsageError& error) {
            named += std::string(error.what()).find("has records of") != std::string::npos ? 1 : 0;
          }
        }
      }
    }
  }
  CHECK(named > 500);
  CHECK(unchanged > 430);
}
