// Compares logs that engines wrote (logs/README.md) with the rounds that follow from the ids they emitted.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/planning.hpp"

using namespace speclab;

namespace {

std::string recorded(const std::string& name) {
  return SPECLAB_SOURCE_DIR "/tests/serving/advisor/logs/" + name;
}

std::vector<nlohmann::json> records_of(const std::string& name) {
  std::vector<nlohmann::json> records;
  std::ifstream file(recorded(name));
  for (std::string line; std::getline(file, line);) records.push_back(nlohmann::json::parse(line));
  return records;
}

constexpr std::size_t recorded_gamma = 4;

struct EmittedRounds {
  std::uint64_t rounds = 0;
  std::uint64_t drafted = 0;
  std::uint64_t accepted = 0;
  std::uint64_t examined = 0;
  std::vector<std::uint64_t> by_position = std::vector<std::uint64_t>(recorded_gamma);

  double alpha() const { return static_cast<double>(accepted) / static_cast<double>(examined); }
};

/// Adds the rounds of a text whose first id came from the prompt's run. The draft's likeliest token after
/// each id is `likeliest`, and it drafts at most up to the id before the last.
void add_rounds(EmittedRounds& out, const std::vector<int>& ids, const std::array<int, 4>& likeliest) {
  for (std::size_t at = 1; at < ids.size();) {
    const std::size_t drafted = std::min(recorded_gamma, ids.size() - at - 1);
    std::size_t kept = 0;
    int last = ids[at - 1];
    while (kept < drafted && ids[at + kept] == likeliest[static_cast<std::size_t>(last)]) {
      last = ids[at + kept];
      ++out.by_position[kept++];
    }
    out.rounds += drafted > 0 ? 1 : 0;
    out.drafted += drafted;
    out.accepted += kept;
    out.examined += std::min(kept + 1, drafted);
    at += kept + 1;
  }
}

/// Returns the rounds of llama_cpp_responses.jsonl. `likeliest` has the argmax of the rows of
/// configs/audit_engine.json's draft.
EmittedRounds of_llama_cpp(const std::array<int, 4>& likeliest = {3, 3, 1, 3}) {
  EmittedRounds out;
  for (const auto& answer : records_of("llama_cpp_responses.jsonl"))
    add_rounds(out, answer.at("tokens").get<std::vector<int>>(), likeliest);
  return out;
}

double accepted_of(const LoggedMeans& means) { return means.accepted * static_cast<double>(means.rounds); }

}  // namespace

TEST_CASE("llama.cpp's page of metrics counts the rounds of the ids that it emitted") {
  const EmittedRounds truth = of_llama_cpp();
  REQUIRE(truth.rounds == 769);
  const AcceptanceFile log = read_acceptance(recorded("llama_cpp.prom"));
  CHECK(log.format == "llama_metrics");
  CHECK(log.counts.rounds == truth.rounds);
  CHECK(log.counts.accepted == truth.by_position);
  // Another draft would have had other rounds.
  CHECK(of_llama_cpp({1, 1, 3, 2}).by_position != truth.by_position);
  CHECK(log.drafted == truth.drafted);
  // The last rounds of texts drafted fewer tokens, too few for a warning. Positions that were not drafted
  // count as rejected.
  const std::uint64_t not_drafted = recorded_gamma * truth.rounds - truth.drafted;
  REQUIRE(not_drafted > 0);
  CHECK(log.warnings.empty());
  const double alpha = logged_acceptance(log, .95).alpha.estimate;
  const auto examined = log.counts.total_examined();
  CHECK(examined >= truth.examined);
  CHECK(examined - truth.examined <= not_drafted);
  CHECK(alpha <= truth.alpha());
  CHECK(alpha == doctest::Approx(truth.alpha()).epsilon(.01));
}

TEST_CASE("llama.cpp's answers and log lines give the rounds of the ids that it emitted") {
  const EmittedRounds truth = of_llama_cpp();
  const AcceptanceFile answers =
      read_acceptance(recorded("llama_cpp_responses.jsonl"), {.drafted = static_cast<int>(recorded_gamma)});
  CHECK(answers.format == "llama_server_response");
  REQUIRE(answers.means.has_value());
  CHECK(answers.means->rounds == truth.rounds);
  CHECK(accepted_of(*answers.means) == doctest::Approx(static_cast<double>(truth.accepted)));

  const AcceptanceFile traced = read_acceptance(recorded("llama_cpp_trace.log.gz"));
  CHECK(traced.format == "llama_server_log");
  CHECK(traced.counts.rounds == truth.rounds);
  CHECK(traced.counts.accepted == truth.by_position);

  // Lines give two decimals of the mean length, which cannot show that the last run drafted nothing.
  const AcceptanceFile lines = read_acceptance(recorded("llama_cpp.log"));
  CHECK(lines.format == "llama_server_log");
  REQUIRE(lines.means.has_value());
  CHECK(accepted_of(*lines.means) == doctest::Approx(static_cast<double>(truth.accepted)));
  CHECK(lines.means->rounds >= truth.rounds);
  CHECK(lines.means->rounds <= truth.rounds + records_of("llama_cpp_responses.jsonl").size());
}

TEST_CASE("llama.cpp's slots have no counts of drafts") {
  CHECK_THROWS_WITH_AS(read_acceptance(recorded("llama_cpp_slots.json")),
                       doctest::Contains("in no known format of logs"), UsageError);
}

TEST_CASE("OpenVINO GenAI's counts are those of its runs but the prompt's and the last") {
  std::uint64_t rounds = 0;
  std::uint64_t accepted = 0;
  for (const auto& request : records_of("openvino_metrics.jsonl")) {
    const auto by_run = request.at("emitted_by_run").get<std::vector<std::uint64_t>>();
    std::uint64_t emitted = 0;
    for (std::size_t run = 0; run < by_run.size(); ++run) {
      emitted += by_run[run];
      if (run > 0 && run + 1 < by_run.size()) {
        ++rounds;
        accepted += by_run[run] - 1;
      }
    }
    CHECK(emitted == request.at("ids").size());
  }
  LogOptions fields;
  fields.fields = {
      {"accepted", "num_accepted_tokens"}, {"drafted", "num_draft_tokens"}, {"rounds", "rounds"}};
  const AcceptanceFile log = read_acceptance(recorded("openvino_metrics.jsonl"), fields);
  REQUIRE(log.means.has_value());
  CHECK(log.means->rounds == rounds);
  CHECK(accepted_of(*log.means) == doctest::Approx(static_cast<double>(accepted)));
}
