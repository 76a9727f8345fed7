#include "serving/advisor/log_comparison.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/statistics/acceptance_log.hpp"
#include "analysis/statistics/differences.hpp"
#include "core/random/philox.hpp"
#include "experiments/base/format/config_error.hpp"
#include "serving/server/acceptance_law.hpp"
#include "tests/bounds.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

LogComparison comparison_of(const std::string& first, const std::string& second,
                            ComparisonQuestion question = {}) {
  const TempFile one(first);
  const TempFile other(second);
  question.first = one.path().string();
  question.second = other.path().string();
  return compare_logs(question);
}

std::string comparison_refusal(const std::string& first, const std::string& second,
                               const ComparisonQuestion& how = {}) {
  try {
    comparison_of(first, second, how);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

constexpr std::uint32_t gamma_drafted = 4;

/// Responses of 40 requests of 50 rounds, whose rates have this mean and a standard deviation of .1.
std::string responses(double mean, std::uint32_t seed) {
  const AcceptanceDraws draws(beta_law(mean, 0.1), test_seed(seed));
  std::string text;
  for (std::uint32_t request = 0; request < 40; ++request) {
    RequestAcceptance own = draws.begin(request);
    std::vector<int> histogram(gamma_drafted + 1);
    for (std::uint32_t round = 0; round < 50; ++round)
      ++histogram[draws.accepted(own, request, round, gamma_drafted)];
    text += fmt::format(
        "{{\"metrics\": {{\"speculative_decoding\": {{\"acceptance_histogram\": [{}, {}, {}, {}, {}], \"num_draft_tokens\": 200}}}}}}\n",
        histogram[0], histogram[1], histogram[2], histogram[3], histogram[4]);
  }
  return text;
}

const ComparedNumber& named(const LogComparison& comparison, const std::string& start) {
  for (const ComparedNumber& one : comparison.numbers) {
    if (one.name.starts_with(start)) return one;
  }
  throw std::runtime_error("no number " + start);
}

}  // namespace

TEST_CASE(
    "responses of requests are compared with requests as the parts, and a planted difference is found") {
  const std::string base = responses(0.7, 11);
  const LogComparison apart = comparison_of(base, responses(0.8, 12));
  CHECK(apart.first.units.starts_with("40 JSON objects"));
  CHECK(apart.first.drafted == 4);
  const ComparedNumber& alpha = named(apart, "α");
  CHECK(alpha.difference.estimate == doctest::Approx(alpha.second - alpha.first));
  CHECK(alpha.p.value() < 0.01);
  CHECK(alpha.difference.low > 0);
  CHECK(alpha.found.value() < 0.1);
  CHECK(named(apart, "tokens").p.value() < 0.01);
  REQUIRE(apart.positions.size() == 4);
  CHECK(apart.positions[0].p.value() < 0.05);
  CHECK(apart.warnings.empty());
  // The numbers of a file are those of all of its rounds.
  const AcceptanceFile whole = acceptance_in(base, "base");
  CHECK(alpha.first == doctest::Approx(static_cast<double>(whole.counts.total_accepted()) /
                                       static_cast<double>(whole.counts.total_examined())));
  CHECK(named(apart, "tokens").first ==
        doctest::Approx(1 + static_cast<double>(whole.counts.total_accepted()) / 2000));
  const LogComparison alike = comparison_of(base, responses(0.7, 13));
  CHECK(named(alike, "α").p.value() > 0.01);
  // The same requests in the same order: only the difference between them varies.
  const LogComparison paired =
      comparison_of(base, responses(0.72, 11), {.first = "", .second = "", .paired = true});
  CHECK(paired.paired);
  CHECK(named(paired, "α").found.value() < 0.7 * named(alike, "α").found.value());
}

TEST_CASE("rounds are put together by their request, also if requests take turns") {
  std::string turns = "request,drafted,accepted\n";
  std::string alone = "drafted,accepted\n";
  std::string json;
  for (int i = 0; i < 120; ++i) {
    const int accepted = i * 7919 % 11 % 5;
    turns += fmt::format("r{},4,{}\n", i % 6, accepted);
    alone += fmt::format("4,{}\n", accepted);
    json += fmt::format("{{\"drafted\": 4, \"accepted\": {}, \"sequence\": {}}}\n", accepted, i % 6);
  }
  turns += "r9,0,0\n";  // a request without drafts says nothing
  const LogComparison by_request = comparison_of(turns, json);
  CHECK(by_request.first.units.starts_with("6 requests"));
  CHECK(by_request.second.units.starts_with("6 requests"));
  CHECK(named(by_request, "α").difference.estimate == doctest::Approx(0));
  CHECK(named(by_request, "α").p.value() == doctest::Approx(1));
  const LogComparison by_piece = comparison_of(alone, turns);
  CHECK(by_piece.first.units.starts_with("50 pieces of its 120 rounds"));
  CHECK(named(by_piece, "tokens").first == doctest::Approx(named(by_piece, "tokens").second));
  ComparisonQuestion other{.first = "", .second = ""};
  other.log.fields = {{"accepted", "kept"}, {"drafted", "n"}};
  other.request = "rid";
  const LogComparison renamed =
      comparison_of("rid,n,kept\na,4,1\na,4,2\nb,4,4\n", "rid,n,kept\na,4,1\nb,4,2\n", other);
  CHECK(renamed.first.units.starts_with("2 requests"));
}

TEST_CASE("pieces of rounds seldom differ without a cause, and find a planted difference") {
  // Passages of 10 rounds on average are easy (.9) or hard (.5). Null: both logs have this law; p < .05 in a
  // share of at most .05 of 100 trials, 7 sigma: .203. Rounds taken as independent alarm in about .35.
  const auto log = [](std::uint32_t trial, std::uint32_t side, double more) {
    Philox stream(test_seed(58), Site{trial, side, Draw{Use::world, 6}});
    const auto uniform = [&] { return static_cast<double>(stream() >> 11U) * 0x1p-53; };
    std::string text;
    bool easy = uniform() < 0.5;
    for (int round = 0; round < 600; ++round) {
      if (uniform() < 0.1) easy = !easy;
      int accepted = 0;
      while (accepted < 3 && uniform() < (easy ? 0.9 : 0.5) + more) ++accepted;
      text += fmt::format("3,{}\n", accepted);
    }
    return text;
  };
  int alarms = 0;
  int alarms_by_round = 0;
  int hits = 0;
  double claimed = 0;
  constexpr std::uint32_t trials = 100;
  for (std::uint32_t trial = 0; trial < trials; ++trial) {
    const std::string first = log(trial, 0, 0);
    const std::string second = log(trial, 1, 0);
    const ComparedNumber alpha = named(comparison_of(first, second), "α");
    alarms += alpha.p.value() < 0.05 ? 1 : 0;
    claimed += alpha.found.value() / trials;
    const auto alone = [](const std::string& text) {
      const PositionCounts counts = acceptance_in(text, "rounds").counts;
      return [=](double confidence) {
        return binomial_interval(counts.total_accepted(), counts.total_examined(), confidence);
      };
    };
    const Interval naive = *independent_difference(alone(first), alone(second))(0.95);
    alarms_by_round += naive.low > 0 || naive.high < 0 ? 1 : 0;
    hits += named(comparison_of(first, log(trial, 2, 0.09)), "α").p.value() < 0.05 ? 1 : 0;
  }
  CAPTURE(alarms);
  CAPTURE(alarms_by_round);
  CAPTURE(hits);
  CAPTURE(claimed);
  CHECK(alarms <= 0.203 * trials);
  CHECK(alarms_by_round > 0.203 * trials);
  CHECK(hits >= 0.5 * trials);
  CHECK(claimed > 0.05);
  CHECK(claimed < 0.12);
}

// One answer alone can look like a tree: its 9 rounds of 4 drafted tokens all accepted 2. Among the others it
// does not, and each answer still counts as one part.
TEST_CASE("a record that looks like a tree is a part of a log of chains") {
  const std::string odd =
      R"({"meta_info": {"spec_verify_ct": 9, "spec_num_proposed_drafts": 36, "spec_correct_drafts_histogram": [0, 0, 9]}})"
      "\n";
  std::string text = odd;
  for (int i = 0; i < 20; ++i)
    text +=
        R"({"meta_info": {"spec_verify_ct": 30, "spec_num_proposed_drafts": 120, "spec_correct_drafts_histogram": [9, 6, 5, 3, 7]}})"
        "\n";
  CHECK(comparison_of(text, text + "\n").first.units == "21 JSON objects");
  CHECK(comparison_refusal(odd, text).find("of trees there is no") != std::string::npos);
}

TEST_CASE("totals by position have the interval of independent rounds") {
  const LogComparison found = comparison_of("position,drafted,accepted\n1,400,300\n2,400,200\n",
                                            "position,drafted,accepted\n1,500,400\n2,500,320\n");
  CHECK(found.first.units.starts_with("400 rounds"));
  const Interval one = *binomial_interval(500, 700, 0.95);
  const Interval other = *binomial_interval(720, 900, 0.95);
  const ComparedNumber& alpha = named(found, "α");
  CHECK(alpha.first == doctest::Approx(5 / 7.0));
  CHECK(alpha.second == doctest::Approx(0.8));
  CHECK(alpha.difference.low ==
        doctest::Approx(0.8 - 5 / 7.0 - std::hypot(0.8 - other.low, one.high - 5 / 7.0)));
  CHECK(named(found, "tokens").second == doctest::Approx(1 + 720 / 500.0));
  CHECK(found.positions[1].first == doctest::Approx(2 / 3.0));
  CHECK(found.positions[1].second == doctest::Approx(0.8));
}

TEST_CASE("what confounds a comparison is said") {
  const std::string three = "3,1\n3,2\n3,0\n3,3\n3,1\n";
  const LogComparison found = comparison_of(three, "5,1\n5,2\n5,0\n5,3\n5,5\n");
  REQUIRE(!found.warnings.empty());
  CHECK(found.warnings[0].find("drafted 3 tokens a round") != std::string::npos);
  // Easy and hard passages of a log without requests.
  std::string passages;
  for (int i = 0; i < 1000; ++i) passages += i / 100 % 2 == 0 ? "2,2\n" : (i % 2 == 0 ? "2,0\n" : "2,1\n");
  const LogComparison alike = comparison_of(passages, passages + "\n");
  REQUIRE(alike.warnings.size() == 2);
  CHECK(alike.warnings[0].find("neighbouring pieces are alike") != std::string::npos);
}

TEST_CASE("two recordings of one text are compared pair by pair") {
  std::string first = "sequence,position,token,logp,logq\n";
  std::string second = first;
  double overlap_first = 0;
  double overlap_second = 0;
  for (int sequence = 0; sequence < 12; ++sequence) {
    for (int position = 0; position < 30; ++position) {
      const double p = -0.2 - 0.1 * (sequence * 31 % 7) - 0.01 * (position * 17 % 13);
      const double q = p - 0.05 - 0.1 * (position * sequence % 5);
      first += fmt::format("{},{},7,{},{}\n", sequence, position, p, q);
      second += fmt::format("{},{},7,{},{}\n", sequence, position, p, q - 0.02 - 0.001 * (sequence % 3));
      overlap_first += std::exp(q - p) / 360;
      overlap_second += std::exp(q - 0.02 - 0.001 * (sequence % 3) - p) / 360;
    }
  }
  const LogComparison found = comparison_of(first, second);
  CHECK(found.paired);
  CHECK(found.first.units == "12 sequences");
  CHECK(named(found, "α").first == doctest::Approx(overlap_first));
  CHECK(named(found, "α").second == doctest::Approx(overlap_second));
  CHECK(named(found, "α").p.value() < 1e-4);
  CHECK(named(found, "tokens").difference.estimate < 0);
  CHECK(found.positions.empty());
  CHECK(comparison_refusal(first, "3,1\n3,2\n").find("is a recording and") != std::string::npos);
}

TEST_CASE("files that cannot be compared are refused") {
  const std::string two = "request,drafted,accepted\na,4,1\na,4,2\nb,4,3\nb,4,1\n";
  const std::string three = two + "c,4,2\nc,4,1\n";
  CHECK(
      comparison_refusal(two, three, {.first = "", .second = "", .paired = true}).starts_with("--paired: "));
  CHECK(comparison_refusal(two, three, {.first = "", .second = "", .request = "rid"})
            .starts_with("--request rid: "));
  CHECK(comparison_refusal("{\"meta_info\": {\"completion_tokens\": 106, \"spec_verify_ct\": 43, "
                           "\"spec_num_correct_drafts\": 63, \"spec_num_proposed_drafts\": 215}}\n",
                           two)
            .find("gives one mean") != std::string::npos);
  CHECK(comparison_refusal("4,5\n", two).find("5 tokens accepted of 4") != std::string::npos);
}

TEST_CASE("two pages of one server are not taken as independent, and the same file twice is refused") {
  const auto page = [](int rounds, int accepted, const std::string& more) {
    return fmt::format(
        "vllm:spec_decode_num_drafts_total 1{0:05}\nvllm:spec_decode_num_accepted_tokens_per_pos_total{{position=\"0\"}} {1}\n{2}",
        rounds, accepted, more);
  };
  const std::string start = "process_start_time_seconds 1.7e9\n";
  const std::string monday = page(0, 80000, "");
  const std::string tuesday = page(10000, 84000, "");
  for (const bool forward : {true, false}) {
    const LogComparison found = forward ? comparison_of(monday, tuesday) : comparison_of(tuesday, monday);
    REQUIRE(found.warnings.size() == 1);
    CHECK(found.warnings[0].find("are not independent; plan log") != std::string::npos);
    CHECK(found.warnings[0].find("--since") != std::string::npos);
  }
  CHECK(comparison_of(page(0, 80000, start), page(10000, 84000, start)).warnings.size() == 1);
  // Another server, or one that was started again.
  CHECK(comparison_of(page(0, 80000, start), page(10000, 84000, "process_start_time_seconds 1.8e9\n"))
            .warnings.empty());
  CHECK(comparison_of(monday, page(10000, 79000, "")).warnings.empty());
  CHECK(comparison_refusal(monday, monday).find("hold the same") != std::string::npos);
}
