#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/log_format.hpp"
#include "serving/advisor/planning.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

std::string log_named(const std::string& name) {
  return SPECLAB_SOURCE_DIR "/tests/serving/advisor/logs/" + name;
}

/// Counts, made here, of the rounds that all logs of the folder describe.
struct TrueRounds {
  std::uint64_t rounds = 0;
  std::uint64_t accepted = 0;
  std::uint64_t examined = 0;
  std::vector<std::uint64_t> by_position = std::vector<std::uint64_t>(4);

  double alpha() const { return static_cast<double>(accepted) / static_cast<double>(examined); }
};

TrueRounds true_rounds() {
  TrueRounds truth;
  std::ifstream file(log_named("truth.csv"));
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const int accepted = line.at(2) - '0';
    ++truth.rounds;
    truth.accepted += static_cast<std::uint64_t>(accepted);
    truth.examined += static_cast<std::uint64_t>(std::min(accepted + 1, 4));
    for (std::size_t i = 0; i < static_cast<std::size_t>(accepted); ++i) ++truth.by_position[i];
  }
  return truth;
}

/// Returns the alpha for a mean of accepted tokens of four drafted, by a search of its own.
double alpha_of_four(double mean) {
  double best = 0;
  for (double alpha = 0; alpha <= 1; alpha += 1e-6) {
    const auto off = [mean](double a) { return std::abs(a * (1 + a * (1 + a * (1 + a))) - mean); };
    if (off(alpha) < off(best)) best = alpha;
  }
  return best;
}

double alpha_in(const AcceptanceFile& log) { return logged_acceptance(log, .95).alpha.estimate; }

std::string whole_text(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(log_named(name), std::ios::binary).rdbuf();
  return text.str();
}

std::string unread(const std::string& text, const LogOptions& options = {}) {
  try {
    acceptance_in(text, "log", options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("logs of five servers by position give the alpha of the rounds that they are about") {
  const TrueRounds truth = true_rounds();
  REQUIRE(truth.rounds == 600);
  struct Case {
    const char* file;
    const char* format;
    LogOptions options;
    bool named;
  };
  LogOptions since{.model = "target"};
  since.earlier_file = log_named("vllm_before.prom");
  since.earlier = whole_text("vllm_before.prom");
  LogOptions fields;
  fields.fields = {{"accepted", "acc_tokens"}, {"drafted", "draft_tokens"}, {"model", "model"}};
  const std::vector<Case> cases{{"vllm_after.prom", "vllm_metrics", since, true},
                                {"vllm.log.gz", "vllm_log", {}, false},
                                {"vllm_responses.sse", "vllm_response", {}, true},
                                {"sglang_responses.jsonl", "sglang_response", {}, false},
                                {"tensorrt_iterations.json.gz", "tensorrt_iterations", {}, false},
                                {"llama_requests.log", "llama_server_log", {}, false},
                                {"llama_statistics.log", "llama_server_log", {}, true},
                                {"spec_bench.jsonl", "spec_bench", {.drafted = 4}, true},
                                {"own.csv", "named_fields", fields, true}};
  for (const Case& one : cases) {
    CAPTURE(one.file);
    const AcceptanceFile log = read_acceptance(log_named(one.file), one.options);
    CHECK(log.format == one.format);
    CHECK(log.warnings.empty());
    REQUIRE_FALSE(log.means.has_value());
    CHECK(log.counts.rounds == truth.rounds);
    CHECK(log.counts.accepted == truth.by_position);
    CHECK(log.counts.total_examined() == truth.examined);
    CHECK(alpha_in(log) == doctest::Approx(truth.alpha()).epsilon(1e-12));
    CHECK(log.longest() == 4);
    LogOptions other = one.options;
    other.model = "no such model";
    CHECK_THROWS_WITH_AS(read_acceptance(log_named(one.file), other), doctest::Contains("no such model"),
                         UsageError);
  }
}

TEST_CASE("logs of sums and means give the alpha of their mean length") {
  const TrueRounds truth = true_rounds();
  const double alpha = alpha_of_four(static_cast<double>(truth.accepted) / static_cast<double>(truth.rounds));
  struct Case {
    const char* file;
    const char* format;
    double rounding;  ///< rounding of alpha that the log's digits allow
    std::uint64_t rounds;
  };
  const std::vector<Case> cases{{"sglang.log", "sglang_log", .002, 0},
                                {"sglang.prom", "sglang_metrics", 2e-6, 600},
                                {"mlx_responses.jsonl", "llama_server_response", 2e-6, 600}};
  for (const Case& one : cases) {
    CAPTURE(one.file);
    const AcceptanceFile log = read_acceptance(log_named(one.file));
    CHECK(log.format == one.format);
    REQUIRE(log.means.has_value());
    CHECK(log.means->rounds == one.rounds);
    CHECK(log.means->drafted == 4);
    const Acceptance found = logged_acceptance(log, .95);
    CHECK(std::abs(found.alpha.estimate - alpha) < one.rounding);
    CHECK(found.alpha.low < alpha);
    CHECK(found.alpha.high > alpha);
    CHECK(log.longest() == 4);
  }
}

TEST_CASE("every format reads its own sample, and no other format takes it first") {
  for (const LogFormat& format : log_formats()) {
    CAPTURE(format.name);
    LogOptions options;
    if (std::string(format.name) == "named_fields") {
      options.fields = {{"accepted", "usage.kept"}, {"drafted", "usage.draft"}, {"model", "model"}};
    }
    const AcceptanceFile log = [&] {
      try {
        return acceptance_in(format.sample, "sample", options);
      } catch (const UsageError& error) {
        CHECK(std::string(error.what()).find("give --drafted N") != std::string::npos);
        options.drafted = 5;
        return acceptance_in(format.sample, "sample", options);
      }
    }();
    CHECK(log.format == format.name);
    CHECK(log.longest() > 0);
  }
}

TEST_CASE("an unreadable log is refused by the keys, columns or line that come nearest, with a way out") {
  const auto says = [](const std::string& text, const std::vector<std::string>& words) {
    const std::string error = unread(text);
    CAPTURE(error);
    for (const std::string& word : words) CHECK(error.find(word) != std::string::npos);
  };
  says("Sun Nov 22 something else\n", {"plan list logs", "drafted=COLUMN"});
  says("start\nSun Nov 22 accepted 7 of 9\n", {":2: in no known", "accepted 7 of 9"});
  says("{\"run\": {\"draft_sum\": 90, \"acc_rate\": 0.5, \"acc_sum\": 45}}\n",
       {"it has", "drafted=run.draft_sum,accepted=run.acc_sum"});
  says("request,draft_n,emitted_n,kept_acc\na,8,9,7\n", {":1: ", "drafted=draft_n,accepted=kept_acc"});
  says("drafted;accepted\n5;3\n", {":1: ", "separated by commas"});
  says("drafted\taccepted\n5\t3\n", {":1: ", "separated by commas"});
  says("{\n \"draft_n\": 9,\n}\n", {"line 3"});
}

TEST_CASE("what a log does not say is asked for") {
  CHECK(unread(whole_text("spec_bench.jsonl")).find("--drafted") != std::string::npos);
  CHECK(unread("{\"timings\": {\"draft_n\": 20, \"draft_n_accepted\": 9}}").find("--drafted") !=
        std::string::npos);
  CHECK(unread("5,3\n", {.earlier_file = "before"}).find("--since before") != std::string::npos);
  CHECK(unread("x,y\n5,3\n", {.fields = {{"accepted", "z"}}}).find("no column \"z\"") != std::string::npos);
  CHECK(unread("x,y\n5,3\n", {.fields = {{"taken", "x"}}}).find("unknown \"taken\"") != std::string::npos);
  CHECK(unread("{\"a\": 1}\n", {.fields = {{"accepted", "a"}}}).find("--drafted") != std::string::npos);
}

TEST_CASE("counts that contradict rounds of one drafted token a position are refused, with the numbers") {
  const auto refused = [](const std::string& text, const char* words, const LogOptions& options = {}) {
    CAPTURE(text);
    CHECK(unread(text, options).find(words) != std::string::npos);
  };
  // A tree of 4 branches; a chain of the same server is read.
  const std::string sglang =
      "server_args=ServerArgs(speculative_num_steps=4, speculative_eagle_topk=TOPK, speculative_num_draft_tokens=5)\n"
      "Decode batch, #running-req: 2, #token: 900, accept len: 3.30, accept rate: 0.5\n";
  const auto with_topk = [&](const char* k) {
    return std::string(sglang).replace(sglang.find("TOPK"), 4, k);
  };
  refused(with_topk("4"), "the server verified trees");
  CHECK(unread(with_topk("1")).empty());
  CHECK(unread(with_topk("None")).empty());
  // 12 of 600 runs drafted: (600 + 300) / 600 tokens a run.
  const auto llama = [](int calls) {
    return fmt::format(
        "statistics ngram_mod: #calls = {}, #gen drafts = 12, #acc drafts = 11, #gen tokens = 480, #acc tokens = 300, dur(b,g,a) = 0.1, 0.3, 0.005 ms\n",
        calls);
  };
  refused(llama(600), "drafted in 12 of 600 runs of the target, which emitted 1.5 tokens a run");
  CHECK(unread(llama(12)).empty());
  // The server started again, and all its runs drafted; its first life counts, too.
  refused(
      llama(600) +
          "statistics ngram_mod: #calls = 9, #gen drafts = 9, #acc drafts = 9, #gen tokens = 36, #acc tokens = 20, dur\n",
      "drafted in 12 of 600 runs");
  // 201 - 1 - 120 = 80 runs emitted 200 tokens; 180 drafted tokens are not 16 in each.
  const LogOptions sixteen{.drafted = 16};
  refused(R"({"timings": {"predicted_n": 201, "draft_n": 180, "draft_n_accepted": 120}})",
          "180 tokens drafted in 80 runs of the target, which emitted 2.5 tokens a run", sixteen);
  CHECK(unread(R"({"timings": {"predicted_n": 132, "draft_n": 180, "draft_n_accepted": 120}})", sixteen)
            .empty());
  // Totals of a request are no round, by name or by size.
  const LogOptions totals{.fields = {{"accepted", "stats.kept"}, {"drafted", "stats.total_drafted"}}};
  refused(R"({"stats": {"kept": 9, "total_drafted": 20}})", "totals of a request", totals);
  const LogOptions large{.fields = {{"accepted", "kept"}, {"drafted", "n"}}};
  refused(R"({"kept": 150, "n": 300})", "totals of a request", large);
  CHECK(unread(R"({"kept": 3, "n": 4})", large).empty());
}

TEST_CASE("rates of three decimals do not make full rounds short") {
  // 5548 tokens drafted four a round are 1387 rounds; 20 / 1387 prints as 0.014.
  const AcceptanceFile log = acceptance_in(
      "SpecDecoding metrics: Mean acceptance length: 1.01, Accepted throughput: 2.00 tokens/s, Drafted throughput: "
      "554.80 tokens/s, Accepted: 20 tokens, Drafted: 5548 tokens, Per-position acceptance rate: 0.014, 0.000, 0.000, "
      "0.000, Avg Draft acceptance rate: 0.4%\n",
      "log");
  CHECK(log.warnings.empty());
  CHECK(alpha_in(log) == doctest::Approx(20.0 / 1407));
}

TEST_CASE("counters that fell between two pages are refused") {
  LogOptions options{.model = "target"};
  options.earlier_file = log_named("vllm_after.prom");
  options.earlier = whole_text("vllm_after.prom");
  CHECK(unread(whole_text("vllm_before.prom"), options).find("fell from") != std::string::npos);
}

TEST_CASE("rounds shorter than the others are warned of, with what they leave open") {
  // In 10 of 100 rounds one token only was drafted: up to 10 of the 60 rejections at position 2 did not
  // happen.
  const std::string page =
      "vllm:spec_decode_num_drafts_total 100\nvllm:spec_decode_num_draft_tokens_total 190\n"
      "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"0\"} 80\n"
      "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"1\"} 40\n";
  const AcceptanceFile log = acceptance_in(page, "page");
  REQUIRE(log.warnings.size() == 1);
  CHECK(log.warnings[0].find("α is between 0.6667 and 0.7059") != std::string::npos);
}

TEST_CASE("a log cut off or damaged in its compression is refused") {
  const std::string whole = whole_text("vllm.log.gz");
  const TempFile cut(whole.substr(0, whole.size() / 2));
  CHECK_THROWS_WITH_AS(read_acceptance(cut.path()), doctest::Contains("cut off"), UsageError);
  std::string damaged = whole;
  for (std::size_t i = 20; i < 60; ++i) damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
  const TempFile spoilt(damaged);
  CHECK_THROWS_WITH_AS(read_acceptance(spoilt.path()), doctest::Contains("damaged"), UsageError);
}

TEST_CASE("a choice of gamma at the edge of a log is warned of, and one inside is not") {
  const Acceptance known = logged_acceptance(read_acceptance(log_named("truth.csv")), .95);
  const auto warned = [&](double c) {
    return make_plan({{.costs = {ConstantCost{1}, ConstantCost{c}}}, known}, {}).warnings;
  };
  REQUIRE(warned(.001).size() == 1);
  CHECK(warned(.001)[0].find("Log about") != std::string::npos);
  CHECK(warned(.4).empty());
}
