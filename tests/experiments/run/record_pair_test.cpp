// Tests recordings of pairs: they are read back as written, and recorded models refuse computations that need
// more than the recording.
#include "experiments/run/record_pair.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/recording/recording_file.hpp"
#include "experiments/run/jobs.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

Json pair_config() {
  return {{"title", "pair"},
          {"models",
           {{"target", {{"kind", "table"}, {"rows", {{0.5, 0.25, 0.25}}}}},
            {"draft", {{"kind", "table"}, {"rows", {{0.5, 0.5, 0}}}}}}},
          {"simulation", {{"trials", 10}, {"length", 100}}}};
}

Json recorded_config(const std::string& file) {
  Json json = pair_config();
  for (const char* side : {"target", "draft"}) json["models"][side] = {{"kind", "recorded"}, {"file", file}};
  return json;
}

RecordedTokens recorded_tokens() {
  ModelFactory factory;
  return record_pair(build_setup(read_config(pair_config()), factory), 50);
}

/// Returns path and problem of the error that a set-up throws, or "".
std::string refusal(const Json& json) {
  try {
    JobList jobs;
    jobs.setup(read_config(json));
  } catch (const ConfigError& error) {
    return error.path + ": " + error.what();
  }
  return "";
}

bool says(const std::string& whole, const std::string& part) { return whole.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a recording has the columns of its tokens") {
  const RecordedTokens recorded = recorded_tokens();
  REQUIRE(recorded.tokens.size() == 500);
  CHECK(recorded.recording.sequences.size() == 10);
  const double p[] = {0.5, 0.25, 0.25};
  const double q[] = {0.5, 0.5, 0};
  for (std::size_t i = 0; i < 500; ++i) {
    CHECK(recorded.recording.target[i] == std::log(p[recorded.tokens[i]]));
    CHECK(recorded.recording.draft[0][i] == std::log(q[recorded.tokens[i]]));
    CHECK(recorded.recording.entropy[i] == doctest::Approx(1.5 * std::log(2)));
  }
}

TEST_CASE("what is written is read again, to the last bit") {
  const RecordedTokens recorded = recorded_tokens();
  for (const RecordingStyle style : {RecordingStyle::csv, RecordingStyle::json_lines}) {
    for (const bool entropy : {false, true}) {
      const TempFile file("");
      write_recording(recorded, file.path(), style, entropy);
      const Recording read = read_recording(file.path().string()).recording;
      CHECK(read.target == recorded.recording.target);
      CHECK(read.draft == recorded.recording.draft);
      CHECK(read.entropy.size() == (entropy ? 500 : 0));
      CHECK(read.sequences.size() == 10);
    }
  }
}

TEST_CASE("the acceptance rate under lenience follows from two columns") {
  // The rates are exact: in this text the tokens of a context occur as often as its row says. p = (.5, .25,
  // .25), q = (.25, .7, .05); sum of min(p / l, q) is .55 at l = 1 and .25 + .5 + .05 = .8 at l = .5, .95 +
  // .05 at .3.
  std::string lines = "sequence,position,token,logp,logq\n";
  const int tokens[] = {0, 0, 1, 2};
  const double p[] = {0.5, 0.25, 0.25};
  const double q[] = {0.25, 0.7, 0.05};
  for (int i = 0; i < 400; ++i) {
    const int token = tokens[i % 4];
    lines += fmt::format("{},{},{},{},{}\n", i / 40, i % 40, token, std::log(p[token]), std::log(q[token]));
  }
  const TempFile file(lines);
  Json json = recorded_config(file.path().string());
  json["experiment"] = "acceptance";
  json["simulation"] = {{"trials", 10}, {"length", 40}};
  const auto alpha = [&](double lenience) {
    json["rule"] = {{"kind", "lenient"}, {"lenience", lenience}};
    return value_of(run_of(json).result.cells.front().simulated, Metric::alpha_overlap)->estimate;
  };
  CHECK(alpha(1) == doctest::Approx(0.25 + 0.25 + 0.05).epsilon(1e-8));
  CHECK(alpha(0.5) == doctest::Approx(0.25 + 0.5 + 0.05).epsilon(1e-8));
  CHECK(alpha(0.3) == doctest::Approx(0.25 + 0.7 + 0.05).epsilon(1e-8));
  json["rule"] = {{"kind", "token"}};
  CHECK(value_of(run_of(json).result.cells.front().simulated, Metric::alpha_overlap)->estimate ==
        doctest::Approx(0.55).epsilon(1e-8));
  // Rounds under lenience emit another text, about which the recording says nothing.
  json["rule"] = {{"kind", "lenient"}, {"lenience", 0.5}};
  json["experiment"] = "decode";
  CHECK(says(refusal(json), "/rule/kind: two columns do not determine rounds of \"lenient\""));
}

TEST_CASE("recorded models run with token verification alone, where nothing looks at rows or tokens") {
  const TempFile file("");
  write_recording(recorded_tokens(), file.path(), RecordingStyle::csv, false);
  const Json good = recorded_config(file.path().string());
  CHECK(refusal(good) == "");
  Json json = good;
  json["rule"] = {{"kind", "block"}};
  CHECK(says(refusal(json), "/rule/kind: two columns do not determine rounds of \"block\""));
  json = good;
  json["sampling"] = {{"temperature", 0.7}};
  CHECK(says(refusal(json), "leave them out, and record another text"));
  json = good;
  json["models"]["target"]["column"] = "logp";
  CHECK(says(refusal(json), "/models/target/column: "));
  json = good;
  json["models"]["draft"]["column"] = "small";
  CHECK(says(refusal(json), "no column \"logq.small\""));
  json = good;
  json["experiment"] = "beam";
  CHECK(says(refusal(read_part(json)), "/experiment: \"beam\" needs rows or tokens"));
  json = good;
  json["models"]["draft"] = {{"kind", "uniform"}};
  CHECK(says(refusal(json), "go together"));
  json = good;
  json["simulation"]["prompt"] = {0};
  CHECK(says(refusal(json), "have no prompts"));
  json = good;
  for (const char* side : {"target", "draft"}) json["models"][side]["file"] = "no_such.csv";
  CHECK(says(refusal(json), "/models/target/file: no_such.csv: cannot be read"));
  // Code that builds the models alone would take the two tokens for a vocabulary.
  ModelFactory factory;
  CHECK_THROWS_AS(build_setup(read_config(good), factory), ConfigError);
}

TEST_CASE("of a recording with several drafters the draft names its column") {
  // Each drafter's α is the mean of its min(1, q/p) over the text, which the trials cover once.
  const TempFile file(
      "sequence,position,token,logp,logq.half,logq.never,logq.always\n"
      "0,0,7,-1,-1.6931471805599453,-inf,-1\n0,1,7,-2,-2.6931471805599453,-inf,-2\n");
  for (const auto& [column, alpha] :
       {std::pair{"half", 0.5}, std::pair{"never", 0.0}, std::pair{"always", 1.0}}) {
    Json json = recorded_config(file.path().string());
    json["experiment"] = "acceptance";
    json["simulation"] = {{"trials", 2}, {"length", 1}};
    json["models"]["draft"]["column"] = column;
    const Result result = run_config(read_config(json), [](std::uint64_t) { return Control{}; }).result;
    CHECK(find(result.cells.front().simulated, Metric::alpha_overlap)->estimate == doctest::Approx(alpha));
  }
  CHECK(says(refusal(recorded_config(file.path().string())), "half, never, always"));
}
