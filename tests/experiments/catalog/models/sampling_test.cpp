#include "experiments/catalog/models/sampling.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/distribution/request_law.hpp"
#include "experiments/base/format/json_io.hpp"
#include "sim/models/model.hpp"
#include "sim/models/table_model.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

const TableModel table(3, 1, {5, 3, 2, 1, 6, 3, 2, 2, 6});

/// Returns the table with sampling options in JSON, after a prompt of two tokens.
Model sampled(const std::string& json) {
  return with_sampling(table, read(sampling_type(), parse_json(json), "/sampling"), 2, "/sampling");
}

std::string refusal_of(const std::string& json) {
  return config_error_of([&] { sampled(json); });
}

}  // namespace

TEST_CASE("sampling options are written as they are read") {
  const Json json = parse_json(
      R"({"min_p": 0.1, "repetition_penalty": 1.2, "logit_offset": 3.0, "logit_bias": {"2": -1.5}, "min_tokens": 4,
          "end_tokens": [2], "banned": [0], "penalty_window": 8, "penalty_prompt": "all",
          "grammar": [{"1": 1, "*": 0}, {"2": 0}],
          "order": ["logit_bias", "banned", "repetition_penalty", "min_tokens", "top_k & top_p", "min_p", "grammar"]})");
  const RequestLaw law = read(sampling_type(), json, "");
  CHECK(law.order.own.size() == 7);
  CHECK(law.order.own[4] == std::vector{RequestFilter::top_k, RequestFilter::top_p});
  Json written;
  write(sampling_type(), law, written);
  for (const auto& [key, value] : json.items()) CHECK(written[key] == value);
  CHECK(read(sampling_type(), parse_json(R"({"order": "llama.cpp"})"), "").counted_window() == 64);
}

TEST_CASE("options that cannot be meant are refused by name") {
  CHECK(refusal_of(R"({"repetition_penalty": 1.2})").find("/sampling/logit_offset: missing") == 0);
  CHECK(refusal_of(R"({"min_tokens": 3})").find("need each other") != std::string::npos);
  CHECK(refusal_of(R"({"banned": [3]})").find("/sampling/banned/0: 3 is outside the vocabulary") == 0);
  CHECK(refusal_of(R"({"logit_bias": {"x": 1}})").find("is not a token id") != std::string::npos);
  CHECK(refusal_of(R"({"logit_bias": {"01": 1}})").find("is not a token id") != std::string::npos);
  CHECK(
      refusal_of(R"({"grammar": [{"0": 0}, {}]})").find("/sampling/grammar/1: this state allows no token") ==
      0);
  CHECK(
      refusal_of(R"({"grammar": [{"0": 2}, {"1": 0}]})").find("/sampling/grammar/0/0: there is no state 2") ==
      0);
  CHECK(refusal_of(R"({"grammar": [{"7": 0}]})").find("/sampling/grammar/0/7: 7 is outside the vocabulary") ==
        0);
  CHECK(refusal_of(R"({"grammar": {"0": 0}})").find("list of states") != std::string::npos);
  CHECK(refusal_of(R"({"grammar": [{"0": 1}, {"2": 0}], "banned": [2]})").find("/sampling/grammar/1: ") == 0);
  CHECK(refusal_of(R"({"grammar": [{"2": 0}], "min_tokens": 1, "end_tokens": [2]})")
            .find("forbids every token that this state allows") != std::string::npos);
  CHECK(refusal_of(R"({"grammar": [{"0": 0}], "order": ["top_k"]})").find("lacks \"grammar\"") !=
        std::string::npos);
  CHECK(refusal_of(R"({"order": "vlm"})").find("vllm") != std::string::npos);
  CHECK(refusal_of(R"({"order": ["top_k", "top_k"]})").find("occurs twice") != std::string::npos);
  CHECK(refusal_of(R"({"top_p": 0.5, "order": ["top_k"]})").find("lacks \"top_p\"") != std::string::npos);
  CHECK(refusal_of(R"({"order": ["top_ k"]})").find("/sampling/order/0: unknown filter \"top_ k\"") == 0);
  CHECK(refusal_of(R"({"banned": [0, 1, 2]})")
            .find("/sampling/banned: all 3 tokens of the vocabulary are forbidden; leave one out") == 0);
  CHECK(refusal_of(R"({"min_tokens": 2, "end_tokens": [0, 1, 2]})")
            .find("/sampling/end_tokens: all 3 tokens of the vocabulary are forbidden before 2 tokens") == 0);
  CHECK(refusal_of(R"({"min_tokens": 2, "end_tokens": [0, 2], "banned": [1]})")
            .find("/sampling/banned: with") == 0);
  CHECK(refusal_of(R"({"min_tokens": 1000000, "end_tokens": [0, 2]})").empty());
  const RequestLaw penalty{.frequency_penalty = 1};
  const auto unknown_prompt = [&] { with_sampling(table, penalty, std::nullopt, "/sampling"); };
  CHECK(config_error_of(unknown_prompt).find("number of prompt tokens") != std::string::npos);
}

TEST_CASE("grammars that lead where nothing may follow, or all is forced, are refused by state") {
  // State 1 comes after the end token, which may not be the first, second or third.
  const std::string later =
      R"({"grammar": [{"0": 0, "1": 0, "2": 1}, {"1": 1}], "banned": [1], "min_tokens": 3, "end_tokens": [2]})";
  CHECK(refusal_of(later).find("/sampling/grammar/1: \"banned\" or \"min_tokens\" forbids every token") == 0);
  const std::string forced =
      ": from here every token is forced, for ever: let the last token lead to state 0";
  CHECK(refusal_of(R"({"grammar": [{"0": 0, "1": 1}, {"2": 1}]})").find("/sampling/grammar/1" + forced) == 0);
  CHECK(refusal_of(R"({"grammar": [{"0": 0, "1": 1}, {"2": 2}, {"0": 1}]})").find(forced) !=
        std::string::npos);
  CHECK(refusal_of(R"({"grammar": [{"0": 0, "1": 1}, {"*": 1}], "banned": [0, 2]})").find(forced) !=
        std::string::npos);
  CHECK(refusal_of(R"({"grammar": [{"0": 0, "1": 1}, {"2": 0}]})").empty());
  CHECK(refusal_of(R"({"grammar": [{"0": 0, "1": 1}, {"2": 1, "0": 1}]})").empty());
  CHECK(refusal_of(R"({"banned": [0, 1]})").empty());
}

TEST_CASE("a row that the options leave empty is refused with a remedy") {
  const TableModel narrow(3, 0, {1, 1, 0});
  const RequestLaw law{.banned = {0, 1}};
  CHECK(config_error_of([&] {
          with_sampling(narrow, law, 0, "/sampling");
        }).find("these options leave no token there: leave one out, or give the row others") !=
        std::string::npos);
}

TEST_CASE("rows are filtered, and count the tokens after the prompt") {
  const Model model = sampled(R"({"frequency_penalty": 1.5, "min_tokens": 2, "end_tokens": [2]})");
  const std::vector<Token> context{0, 1, 1, 1, 0};  // two tokens are the prompt
  std::vector<double> scratch;
  const Row row = model.next(context, scratch);
  std::vector<double> expected{0.5, 0.3, 0.2};
  RequestScratch memory;
  const std::vector<Token> emitted{1, 1, 0};
  filter_row(expected, {.frequency_penalty = 1.5}, {{}, emitted}, memory);
  for (Token id = 0; id < 3; ++id) CHECK(row[id] == doctest::Approx(expected[static_cast<std::size_t>(id)]));
  CHECK(model.next(std::span(context).first(3), scratch)[2] == 0);
  CHECK_FALSE(model.memory().has_value());
}

TEST_CASE("options without memory keep a table a table") {
  const Model model = sampled(R"({"min_p": 0.5, "logit_bias": {"0": 0.5}})");
  REQUIRE(model.table() != nullptr);
  CHECK(model.table()->row(0)[2] == 0);
}
