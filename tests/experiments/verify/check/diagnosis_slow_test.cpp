// Tests that sequences of a planted fault are diagnosed as that fault's, at 100,000 samples.
#include <doctest/doctest.h>

#include "tests/experiments/verify/check/diagnosed.hpp"

using namespace speclab;

namespace {

constexpr int drafted = diagnosed_gamma;
constexpr int length = diagnosed_length;

/// Checks that samples of each planted fault refute the target and name the fault, in all but `misses` runs.
void check_names(int runs, int misses) {
  int planted = 0;
  for (const std::string& rule : rule_family().names()) {
    // A comparison that is wrong by 2^-24 cannot be seen in a sample of this size.
    if (!rule.starts_with("fault-") || rule == "fault-closed-comparison") continue;
    CAPTURE(rule);
    ++planted;
    int named = 0;
    for (int seed = 1; seed <= runs; ++seed) {
      const std::vector<LikelihoodFit> fits = diagnosis_of(rule, seed);
      REQUIRE(!fits.empty());
      CHECK(fits.front().name != "target");
      named += names(fits.front(), rule) ? 1 : 0;
    }
    CHECK(named >= runs - misses);
  }
  CHECK(planted == 32);
}

}  // namespace

TEST_CASE("each planted fault is named, and refuted as the target") { check_names(2, 1); }
TEST_CASE("long: each planted fault is named in 9 of 10 runs, and refuted as the target in all of them") {
  check_names(10, 1);
}

TEST_CASE("laws that the sequences cannot tell apart are listed together") {
  // With their default parameters these rules accept every token of this draft, as the planted fault does.
  const std::vector<LikelihoodFit> fits = diagnosis_of("fault-accept-all");
  REQUIRE(!fits.empty());
  std::vector<std::string> likeliest = fits.front().also;
  likeliest.push_back(fits.front().name);
  CHECK(std::count(likeliest.begin(), likeliest.end(), "fault-accept-all") == 1);
  const std::string words = terminal(diagnosis_text(fits, 1e-6));
  for (const std::string& name : likeliest) CHECK(words.find(name) != std::string::npos);
  // Every rule is listed once, and lossless ones under the target's name.
  std::vector<std::string> all;
  for (const LikelihoodFit& fit : fits) {
    all.push_back(fit.name);
    all.insert(all.end(), fit.also.begin(), fit.also.end());
  }
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
  CHECK(std::find(all.begin(), all.end(), "token") == all.end());
}

TEST_CASE("laws that are hardly less likely than the likeliest are named beside it") {
  const auto words = [](double second) {
    return terminal(
        diagnosis_text({{.name = "sigmoid", .log_likelihood = -98024, .adjusted_p = 1.0},
                        {.name = "typical", .also = {"fault-accept-all"}, .log_likelihood = second},
                        {.name = "target", .log_likelihood = -99700}},
                       1e-6));
  };
  CHECK(words(-98024.1).find("not ruled out: typical or fault-accept-all\n") != std::string::npos);
  CHECK(words(-98028).find("not ruled out") == std::string::npos);
}

TEST_CASE("sequences of lossless rules are the target's") {
  for (const char* rule : {"token", "block", "gumbel", "tree"}) {
    CAPTURE(rule);
    const std::vector<LikelihoodFit> fits = diagnosis_of(rule);
    REQUIRE(!fits.empty());
    // A nearly lossless rule may fit better by chance, but not by much: twice the gain is chi-squared.
    const auto target =
        std::find_if(fits.begin(), fits.end(), [](const auto& fit) { return fit.name == "target"; });
    REQUIRE(target != fits.end());
    CHECK(fits.front().log_likelihood - target->log_likelihood < 15);
    CHECK(target->impossible == 0);
  }
}

TEST_CASE("faults that a pair cannot show are told, and this pair shows all") {
  const auto faults_for = [](int gamma) {
    return candidate_laws(diagnosed_setup("token"), gamma, length, Candidates::planted_faults, Control{});
  };
  CHECK(faults_for(drafted).size() > 30);
  CHECK(unseen(faults_for(drafted)).empty());
  // With one drafted token there are no two positions whose draws could be equal.
  const std::vector<std::string> names = unseen(faults_for(1));
  CHECK(std::count(names.begin(), names.end(), "fault-repeated-uniform") == 1);
  CHECK(std::count(names.begin(), names.end(), "fault-reused-gumbel") == 0);
  CHECK(std::count(names.begin(), names.end(), "fault-accept-all") == 0);
}

TEST_CASE("without an exact distribution there is no diagnosis") {
  const Setup setup = diagnosed_setup("token");
  CHECK(candidate_laws(setup, drafted, 12, Candidates::all, Control{}).empty());
}
