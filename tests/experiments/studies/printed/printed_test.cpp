#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

Json printed_config(const Json& printed, const std::string& quantity, const std::string& stated) {
  return {{"title", "t"},
          {"experiment", "printed"},
          {"printed", printed},
          {"cases", {{{"label", "one"}, {"printed", {{quantity, stated}}}}}}};
}

Reproduction printed_verdict(const Json& printed, const std::string& stated) {
  const std::string quantity = printed["quantity"];
  return run_of(printed_config(printed, quantity, stated)).result.cells.front().verdict.front().second;
}

Reproduction percent_verdict(const std::string& from, const std::string& to, const std::string& stated) {
  return printed_verdict({{"quantity", "percent_saved"}, {"from", {from}}, {"to", {to}}}, stated);
}

std::string printed_error_path(const Json& printed) {
  try {
    run_of(printed_config(printed, printed["quantity"], "1"));
  } catch (const ConfigError& error) {
    return error.path;
  }
  return "";
}

}  // namespace

TEST_CASE("a printed percentage is judged by its printed means") {
  using enum Reproduction;
  CHECK(percent_verdict("4.37", "3.88", "11.2") == reproduces);
  CHECK(percent_verdict("4.17", "3.67", "11.9") == cut_off);  // 11.99
  CHECK(percent_verdict("4.31", "3.15", "27.0") == within_input_rounding);
  CHECK(percent_verdict("4.37", "3.88", "12.2") == does_not_reproduce);
  CHECK(percent_verdict("4", "5", "-25") == reproduces);
  CHECK(percent_verdict("4.000", "5.015", "-25.3") == cut_off);  // -25.375
}

TEST_CASE("other quantities") {
  using enum Reproduction;
  CHECK(printed_verdict({{"quantity", "calls_left"}, {"from", {"27.0"}}, {"to", {"71.9"}}}, ".385") ==
        reproduces);
  CHECK(printed_verdict({{"quantity", "sampling_share"}, {"from", {"10.5"}}, {"to", {"10.9"}}}, "1.04") ==
        reproduces);
  CHECK(printed_verdict({{"quantity", "least_of"}, {"to", {"71.9", "66.8"}}}, "71.9") == does_not_reproduce);
  CHECK(printed_verdict({{"quantity", "most_of"}, {"to", {"71.9", "66.8"}}}, "71.9") == reproduces);
}

TEST_CASE("faulty inputs are refused at their place") {
  CHECK(printed_error_path({{"quantity", "speedup"}, {"to", {"1"}}}) == "/printed/quantity");
  CHECK(printed_error_path({{"quantity", "percent_saved"}, {"to", {"1"}}}) == "/printed/from");
  CHECK(printed_error_path({{"quantity", "percent_saved"}, {"from", {"x"}}, {"to", {"1"}}}) ==
        "/printed/from");
  CHECK(printed_error_path({{"quantity", "percent_saved"}, {"from", {"0"}}, {"to", {"1"}}}) ==
        "/printed/from");
  CHECK(printed_error_path({{"quantity", "least_of"}}) == "/printed/to");
  CHECK(printed_error_path({{"quantity", "quoted"}, {"to", {"1", "2"}}}) == "/printed/to");
}
