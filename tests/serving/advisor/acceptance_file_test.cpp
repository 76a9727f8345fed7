#include "serving/advisor/acceptance_file.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

AcceptanceFile read(const std::string& text) { return read_acceptance(TempFile(text).path()); }

/// Returns the message of reading, without the file's name.
std::string acceptance_refusal(const std::string& text) {
  const TempFile file(text);
  try {
    read_acceptance(file.path());
  } catch (const UsageError& error) {
    return std::string(error.what()).substr(file.path().string().size());
  }
  return "";
}

}  // namespace

TEST_CASE("a log in each of its forms says the same") {
  const AcceptanceFile rounds = read("drafted,accepted\n3,3\n3,0\n3,1\n\n3,2\n");
  CHECK(rounds.rounds.size() == 4);
  CHECK(rounds.counts.examined == std::vector<std::uint64_t>{4, 3, 2});
  CHECK(rounds.counts.accepted == std::vector<std::uint64_t>{3, 2, 1});
  CHECK(rounds.drafted == 12);
  const auto same = [&](const AcceptanceFile& other) {
    return other.counts.examined == rounds.counts.examined &&
           other.counts.accepted == rounds.counts.accepted && other.counts.rounds == 4 && other.drafted == 12;
  };
  CHECK(same(read("3,3\r\n3,0\r\n3,1\r\n3,2\r\n")));
  CHECK(same(read("accepted,request,drafted\n3,a,3\n0,b,3\n1,c,3\n2,d,3\n")));
  CHECK(same(read("{\"drafted\": 3, \"accepted\": 3}\n[3, 0]\n[3, 1]\n[3, 2]\n")));
  CHECK(same(read("position,drafted,accepted\n1,4,3\n2,4,2\n3,4,1\n")));
  CHECK(same(read("position,drafted,accepted\n0,4,3\n1,4,2\n2,4,1\n")));
  const std::string sample = "vllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"0\",position=";
  CHECK(same(read("# HELP vllm:x\nvllm:spec_decode_num_drafts_total{engine=\"0\"} 4.0\nvllm:other 7\n" +
                  sample + "\"0\"} 3.0\n" + sample + "\"1\"} 2.0\n" + sample + "\"2\"} 1.0\n")));
}

TEST_CASE("tokens are counted record by record, where records have rounds of several lengths") {
  // Four rounds drafted three tokens each, and two drafted one: 14 tokens, not 18.
  const AcceptanceFile log = read(
      R"({"meta_info": {"spec_verify_ct": 4, "spec_correct_drafts_histogram": [1, 1, 1, 1]}}
{"meta_info": {"spec_verify_ct": 2, "spec_correct_drafts_histogram": [1, 1]}}
)");
  CHECK(log.drafted == 14);
  CHECK(log.counts.examined == std::vector<std::uint64_t>{6, 3, 2});
  CHECK(log.counts.accepted == std::vector<std::uint64_t>{4, 2, 1});
  CHECK(log.warnings.size() == 1);
}

TEST_CASE("a bad line of a log is named by its number and value") {
  CHECK(acceptance_refusal("5,3\n5,6\n").starts_with(":2: 6 tokens accepted of 5 drafted"));
  CHECK(acceptance_refusal("5,3\n5,x\n").starts_with(":2: accepted is \"x\""));
  CHECK(acceptance_refusal("5,3\n5,-1\n").starts_with(":2: accepted is \"-1\""));
  CHECK(acceptance_refusal("5,3\n5,2.5\n").starts_with(":2: accepted is \"2.5\""));
  CHECK(acceptance_refusal("5,3\n\n5\n").starts_with(":3: \"5\" is not \"drafted,accepted\""));
  CHECK(acceptance_refusal("5,3,1\n").starts_with(":1: \"5,3,1\" is not"));
  CHECK(acceptance_refusal("drafted,kept\n5,3\n").starts_with(":1: no column \"accepted\""));
  CHECK(acceptance_refusal("[5, 3]\n[5]\n").starts_with(":2: [5] is not"));
  CHECK(
      acceptance_refusal("{\"drafted\": 5, \"accepted\": \"3\"}\n").starts_with(":1: accepted is \"\"3\"\""));
  CHECK(acceptance_refusal("[5, 3]\n{\n").starts_with(":2: { is not"));
  CHECK(acceptance_refusal("\n\n") == ": holds no rounds");
  CHECK(acceptance_refusal("0,0\n") == ": no token was drafted");
  CHECK(acceptance_refusal("position,drafted,accepted\n1,4,3\n3,4,2\n")
            .starts_with(":3: position 3; expected"));
  CHECK(acceptance_refusal("position,drafted,accepted\n1,4,3\n2,3,2\n")
            .starts_with(":3: position 2 was drafted 3 times"));
  CHECK(acceptance_refusal("position,drafted,accepted\n1,4,2\n2,4,3\n")
            .starts_with(":1: position 2 was accepted 3"));
  CHECK(acceptance_refusal("vllm:spec_decode_num_drafts_total 4\n").starts_with(": needs samples of"));
  CHECK_THROWS_AS(read_acceptance("no_such_file.csv"), ConfigError);
}

TEST_CASE("counts and lengths that no server has are refused where they stand, before work grows with them") {
  const auto starts = [](const std::string& text, const std::string& beginning) {
    CAPTURE(text);
    const std::string error = acceptance_refusal(text);
    CAPTURE(error);
    CHECK(error.starts_with(beginning));
  };
  starts("5,3\n1001,1\n", ":2: 1001 tokens drafted: these are the totals of a request");
  starts("[5, 3]\n[2000000000, 1]\n", ":2: 2000000000 tokens drafted");
  starts("5,3\n5,1000000000001\n", ":2: accepted is \"1000000000001\"; expected an integer from 0 to");
  starts("position,drafted,accepted\n1,99999999999999,4\n", ":2: drafted is \"99999999999999\"");
  const auto sglang = [](const std::string& steps) {
    return "sglang:spec_verify_calls_total 65\nsglang:generation_tokens_total 65\nsglang:spec_num_steps " +
           steps + "\n";
  };
  starts(sglang("1000000000.0"), ":3: 1000000000 tokens drafted in one round; at most 1000");
  starts(sglang("1e300"), ":3: \"1e300\" is not a count");
  starts(sglang("2.5"), ":3: \"2.5\" is not a count");
  const std::string decode = "Decode batch, #running-req: 8, accept len: 2.40, accept rate: 0.47\n";
  starts("ServerArgs(speculative_num_steps=1000000000)\n" + decode, ":1: 1000000000 tokens drafted");
  starts("ServerArgs(speculative_num_steps=-3)\n" + decode, ":1: no count from 0 to");
  starts("ServerArgs(speculative_num_steps=3)\nDecode batch, #running-req: 1e300, accept len: 2.40\n",
         ":2: no count from 0 to");
  // A mean above the number of drafted tokens would make alpha 1.
  starts("ServerArgs(speculative_num_steps=3)\n" + decode + "Decode batch, accept len: 4.20, x\n",
         ":3: accept len 4.2 with 3 drafted tokens");
  starts(
      R"({"meta_info": {"spec_verify_ct": 2, "spec_num_proposed_drafts": 4000, "spec_correct_drafts_histogram": [1, 1]}})"
      "\n",
      ": /meta_info: 2000 tokens drafted in one round");
  starts(R"({"timings": {"draft_n": 1000000000, "draft_n_accepted": 1, "draft_rounds": 2}})"
         "\n",
         ": /timings: 500000000 tokens drafted in one round");
  starts(R"({"timings": {"draft_n": 1e15, "draft_n_accepted": 1, "draft_rounds": 2}})"
         "\n",
         ": /timings/draft_n: 1e+15; expected a count from 0 to");
  const auto vllm = [](const std::string& length, const std::string& accepted) {
    return "SpecDecoding metrics: Mean acceptance length: " + length + ", Accepted: " + accepted +
           " tokens, Drafted: 8 tokens, Per-position acceptance rate: 0.750, 0.500\n";
  };
  starts(vllm("0.2", "5"), ":1: 5 accepted tokens, their mean length of 0.2");
  starts(vllm("1.0", "5"), ":1: 5 accepted tokens, their mean length of 1");
  starts(vllm("2.25", "1e14"), ":1: no count from 0 to");
}

TEST_CASE("counters of several models are never summed") {
  // Two models, one of them on two engines. Alone they have 0.9 and 0.2; their sum would be neither.
  const auto page = [](const std::string& second) {
    const std::string drafts = "vllm:spec_decode_num_drafts_total";
    const std::string accepted = "vllm:spec_decode_num_accepted_tokens_per_pos_total";
    return "# HELP x\n" + drafts + "{engine=\"0\",model_name=\"a{b},c\"} 600.0\n" + drafts +
           "{engine=\"1\",model_name=\"a{b},c\"} 400.0\n" + accepted +
           "{engine=\"0\",model_name=\"a{b},c\",position=\"0\"} 540.0\n" + accepted +
           "{engine=\"1\",model_name=\"a{b},c\",position=\"0\"} 360.0\n" + drafts + "{model_name=\"" +
           second + "\"} 1e+03\n" + accepted + "{position=\"0\",model_name=\"" + second + "\"} 200\n";
  };
  const std::string error = acceptance_refusal(page("other"));
  CHECK(error.starts_with(": counters of 2 models"));
  CHECK(error.find("--model 'a{b},c': 1000 rounds, 0.9 of 1000") != std::string::npos);
  CHECK(error.find("--model other: 1000 rounds, 0.2 of 1000") != std::string::npos);
  CHECK(models_in(page("other"), "page") == std::vector<std::string>{"a{b},c", "other"});
  CHECK(models_in(page("a{b},c"), "page").empty());
  CHECK(models_in("5,3\n", "page").empty());
  CHECK_THROWS_WITH_AS(models_in("5,9\n", "page"), doctest::Contains("page:1"), UsageError);
  const TempFile file(page("other"));
  CHECK(read_acceptance(file.path(), {.model = "a{b},c"}).counts.accepted == std::vector<std::uint64_t>{900});
  CHECK(read_acceptance(file.path(), {.model = "other"}).counts.accepted == std::vector<std::uint64_t>{200});
  CHECK_THROWS_WITH_AS(read_acceptance(file.path(), {.model = "othr"}),
                       doctest::Contains("did you mean \"other\"?"), UsageError);
  // If the log names one model only, the name need not be given.
  CHECK(read(page("a{b},c")).counts.accepted == std::vector<std::uint64_t>{1100});
  const TempFile rounds("5,3\n");
  CHECK_THROWS_AS(read_acceptance(rounds.path(), {.model = "other"}), UsageError);
}

TEST_CASE("a line nested 100,000 deep is refused as any other that is no round") {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  CHECK(acceptance_refusal(deep + "\n").starts_with(":1: "));
  CHECK(acceptance_refusal("[" + deep + ", 1]\n").starts_with(":1: "));
  CHECK(acceptance_refusal(R"({"drafted": )" + deep + R"(, "accepted": 1})" + "\n").starts_with(":1: "));
}
