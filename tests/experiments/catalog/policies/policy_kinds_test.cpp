// Tests the catalogue of gamma policies: every entry makes the policy that it names.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/format/json_io.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

const PolicyRequest request{[](std::int32_t drafted) { return 1 + 0.1 * drafted; }};

PolicyConfig policy(const std::string& json) {
  return read(kind_of(policy_family()), parse_json(json), "/policy");
}

}  // namespace

TEST_CASE("every policy is made from its defaults, up to its most tokens") {
  for (std::size_t i = 0; i < policy_family().size(); ++i) {
    const PolicyKind& kind = policy_family().entry(i);
    INFO(kind.name);
    const AnyPolicy made = make_policy(selected(kind), request);
    CHECK(made.foresees() == (kind.name == "upper-bound"));
  }
}

TEST_CASE("parameters reach the policy") {
  CHECK(make_policy(policy(R"({"kind": "fixed", "gamma": 7})"), request).most() == 7);
  CHECK(make_policy(policy(R"({"kind": "bandit", "most": 12})"), request).most() == 12);
  const RoundTimes times = request.round_times(3);
  CHECK(times.times == std::vector<double>{1, 1.1, 1.2, 1.3});
}

TEST_CASE("names in tables; what is refused") {
  CHECK(label_of(policy(R"({"kind": "heuristic"})")) == "heuristic");
  CHECK(label_of(policy(R"({"kind": "heuristic", "name": "h"})")) == "h");
  CHECK(config_error_of([] { policy(R"({"kind": "fixed"})"); }).starts_with("/policy/gamma: missing"));
  CHECK(config_error_of([] { policy(R"({"kind": "godput"})"); }).find("did you mean \"goodput\"") !=
        std::string::npos);
}
