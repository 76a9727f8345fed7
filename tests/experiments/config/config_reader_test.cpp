// Tests that configs share a built object exactly if they agree in all parts that its builder read.
#include "experiments/config/config_reader.hpp"
#include "experiments/config/config.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "experiments/base/format/json_io.hpp"
#include "experiments/config/experiment.hpp"

using namespace speclab;

namespace {

Config config_of(const Json& changes) {
  Json json{{"title", "t"}};
  json.merge_patch(changes);
  return read_config(json);
}

/// A text, and the number of times it was made.
struct Counted {
  std::string text;
  int made = 0;
};

}  // namespace

TEST_CASE("a reader notes the parts that are read, whatever their type") {
  const Config config = config_of({{"gamma", 3}});
  const ConfigReader reader(config);
  CHECK(reader.parts().empty());
  CHECK(reader[&Config::gamma] == 3);
  CHECK(reader[&Config::gamma] == 3);
  CHECK(reader.parts().size() == 1);
  CHECK(text_of(config, reader.parts()) == "[3]");
  CHECK(!reader[&Config::alpha]);
  CHECK(!reader[&Config::corpus]);
  CHECK(!reader[&Config::models]);
  CHECK(reader[&Config::experiment]->name == "decode");
  CHECK(reader[&Config::cost].c == 0);
  CHECK(reader.parts().size() == 6);
}

TEST_CASE("every part of a config that is read tells configs apart that differ in it") {
  const auto differ = [](const auto part, const Json& first, const Json& second) {
    const Config one = config_of(first);
    const Config other = config_of(second);
    const ConfigReader reader(one);
    reader[part];
    CAPTURE(text_of(one, reader.parts()));
    CHECK(text_of(one, reader.parts()) != text_of(other, reader.parts()));
    CHECK(text_of(one, reader.parts()) == text_of(config_of(first), reader.parts()));
  };
  const Json uniform{{"kind", "uniform"}, {"vocab", 4}};
  const auto pair = [&](double temperature) {
    Json draft = uniform;
    draft["sampling"]["temperature"] = temperature;
    return Json{{"models", {{"target", uniform}, {"draft", draft}}}};
  };
  differ(&Config::seed, {{"seed", 1}}, {{"seed", 2}});
  differ(&Config::corpus, {{"corpus", {{"file", "a"}}}}, {{"corpus", {{"file", "a"}, {"hold_out", 2}}}});
  differ(&Config::corpus, {{"corpus", {{"file", "a"}}}}, Json::object());
  differ(&Config::models, pair(0.5), pair(1));
  differ(&Config::sampling, {{"sampling", {{"top_k", 3}}}}, Json::object());
  differ(&Config::rule, {{"rule", {{"kind", "block"}}}}, {{"rule", {{"kind", "token"}}}});
  differ(&Config::rule, {{"rule", {{"kind", "lenient"}, {"lenience", 0.5}}}},
         {{"rule", {{"kind", "lenient"}, {"lenience", 0.25}}}});
  differ(&Config::engine, {{"engine", "plain"}}, {{"engine", "fast"}});
  differ(&Config::alpha, {{"experiment", "iid"}, {"alpha", 0.5}}, {{"experiment", "iid"}, {"alpha", 0.25}});
  differ(&Config::gamma, {{"gamma", 1}}, {{"gamma", 2}});
  differ(&Config::cost, {{"cost", {{"c", 0.5}}}}, {{"cost", {{"c_hat", 0.5}}}});
  differ(&Config::simulation, {{"simulation", {{"prompt", "a"}}}}, {{"simulation", {{"prompt", "b"}}}});
  differ(&Config::experiment, {{"experiment", "decode"}}, {{"experiment", "predict"}});
  differ(&Config::confidence, {{"confidence", 0.5}}, {{"confidence", 0.25}});
}

TEST_CASE("a builder is called once for all configs that say the same in what it read") {
  static int calls = 0;
  ModelFactory factory;
  BuiltFromConfigs<Counted> built;
  // Reads the cost only if gamma is above 4.
  const auto build = [](const ConfigReader& reader, const SharedPlace&) {
    const int gamma = reader[&Config::gamma];
    const double c = gamma > 4 ? reader[&Config::cost].c : 0;
    return Counted{std::to_string(gamma) + " " + std::to_string(c), ++calls};
  };
  const auto get = [&](int gamma, double c, int seed = 1) {
    return built.get(config_of({{"gamma", gamma}, {"cost", {{"c", c}}}, {"seed", seed}}), {"", factory},
                     build);
  };
  const auto first = get(2, 0.5);
  CHECK(get(2, 0.25) == first);
  CHECK(get(2, 0.25, 7) == first);
  const auto second = get(5, 0.5);
  CHECK(get(5, 0.5, 7) == second);
  const auto third = get(5, 0.25);
  CHECK(third->text == "5 0.250000");
  CHECK(get(2, 0.25) == first);
  CHECK(get(5, 0.5) == second);
  CHECK(calls == 3);
  built.clear();
  CHECK(get(5, 0.5) != second);
  CHECK(calls == 4);
}

TEST_CASE("a section that is read tells apart, whether a config has it or its defaults") {
  ModelFactory factory;
  BuiltFromConfigs<int> built;
  const auto get = [&](Json changes) {
    changes["experiment"] = "optimal_gamma";
    return built.get(config_of(changes), {"", factory}, [](const ConfigReader& reader, const SharedPlace&) {
      return reader.section<SearchSection>().max_gamma;
    });
  };
  const auto three = get({{"search", {{"max_gamma", 3}}}});
  const auto usual = get(Json::object());
  CHECK(*three == 3);
  CHECK(*usual == SearchSection().max_gamma);
  CHECK(get({{"search", {{"max_gamma", 3}}}, {"seed", 9}}) == three);
  CHECK(*get({{"search", {{"max_gamma", 4}}}}) == 4);
}

TEST_CASE("values that a builder is given tell apart; what throws is not kept") {
  static int calls = 0;
  ModelFactory factory;
  BuiltFromConfigs<Counted> built;
  const Config config = config_of({{"gamma", 2}});
  const auto get = [&](const std::string& first, const std::string& second) {
    const auto build = [](const ConfigReader& reader, const SharedPlace&, const std::string& one,
                          const std::string& other) {
      if (++calls == 1) throw std::runtime_error("the first time");
      return Counted{one + other + std::to_string(reader[&Config::gamma]), calls};
    };
    static const auto type = text();
    return built.get(config, {"", factory}, build, Given<std::string>{type, first},
                     Given<std::string>{type, second});
  };
  CHECK_THROWS(get("a", "bc"));
  const auto a = get("a", "bc");
  CHECK(a->made == 2);
  CHECK(a->text == "abc2");
  CHECK(get("ab", "c")->made == 3);
  CHECK(get("a", "bc") == a);
}
