#include "experiments/base/format/json_io.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

std::string parse_error(const std::string& text) {
  return config_error_of([&] { parse_json(text); });
}

bool begins(const std::string& text, const std::string& start) { return text.starts_with(start); }

}  // namespace

TEST_CASE("text that is not JSON is refused with line and column") {
  CHECK(begins(parse_error(""), "/: not JSON (line 1, column 1): "));
  CHECK(begins(parse_error(std::string("{}\0{}", 5)), "/: not JSON: byte 2 is 0"));
  CHECK(begins(parse_error("{\"a\": 1,}"), "/: not JSON (line 1, column 9): "));
  CHECK(begins(parse_error("{\n  \"a\": 1\n  \"b\": 2\n}"), "/: not JSON (line 3, column "));
  CHECK(begins(parse_error("{\n\"a\": .5}"), "/: not JSON (line 2, column 6): "));
  CHECK(begins(parse_error("{} {}"), "/: not JSON (line 1, column 4): "));
  CHECK(parse_error("{\"a\": 1e999}").find("number overflow") != std::string::npos);
  CHECK(parse_error("{\"a\": \"\xff\"}").find("ill-formed UTF-8") != std::string::npos);
  // The parser's own name for its errors would not help anybody.
  CHECK(parse_error("{\"a\": 1e999}").find("json.exception") == std::string::npos);
}

TEST_CASE("a key that stands twice in one object is refused, in two objects not") {
  CHECK(parse_error(R"({"a": 1, "b": {"a": 2}, "a": 3})") ==
        "/: key \"a\" occurs twice in one object; keep one");
  CHECK(parse_error(R"([{"b": {"c": 1, "c": 1}}])") == "/: key \"c\" occurs twice in one object; keep one");
  CHECK(parse_error(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})").empty());
}

TEST_CASE("depth has a limit, so that no document can exhaust the stack") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(parse_error(nested(50)).empty());
  CHECK(begins(parse_error(nested(1000000)), "/: nested more than "));
  CHECK(begins(parse_error(std::string(1000000, '[')), "/: nested more than "));
}

TEST_CASE("objects have a limit of keys, beyond which reading would take minutes") {
  const auto wide = [](int keys) {
    std::string text = "{\"0\": 0";
    for (int key = 1; key < keys; ++key) text += fmt::format(", \"{}\": 0", key);
    return text + "}";
  };
  CHECK(parse_error(wide(10000)).empty());
  CHECK(parse_error(wide(10001)) == "/: an object has more than 10000 keys");
  CHECK(json_line(wide(100000), "line").is_discarded());
}

TEST_CASE("a line of JSON Lines that is nested too deep or broken is discarded") {
  CHECK(json_line("[1, 2]", "line") == parse_json("[1, 2]"));
  CHECK(json_line("[1, ", "line").is_discarded());
  CHECK_THROWS_WITH_AS(json_line(R"([{"a": 1, "a": 1}])", "log:7"),
                       doctest::Contains("log:7: key \"a\" occurs twice"), UsageError);
  CHECK(json_line(std::string(100000, '[') + std::string(100000, ']'), "line").is_discarded());
}

TEST_CASE("the time to read a list grows with its length, not with its square") {
  // 32 times as many objects take about 32 times as long; in quadratic time 1,000 times as long. The bound is
  // far from both. The shortest of three measurements counts.
  const auto seconds = [](int objects) {
    std::string text = "[";
    for (int i = 0; i < objects; ++i) text += i > 0 ? R"(,{"a":1})" : R"({"a":1})";
    text += "]";
    double least = 1e9;
    for (int i = 0; i < 3; ++i) {
      const std::clock_t start = std::clock();  // processor time, since other tests run at the same time
      CHECK(parse_json(text).size() == static_cast<std::size_t>(objects));
      least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return least;
  };
  CHECK(seconds(64000) < 200 * seconds(2000));
}

TEST_CASE("a path of very many parts is refused, and a value that is not UTF-8") {
  Json config = Json::object();
  std::string path;
  for (int i = 0; i < 100000; ++i) path += "/a";
  CHECK(config_error_of([&] { set_at(config, path, 1, "/sweep"); }).find("more than 100 parts") !=
        std::string::npos);
  CHECK(config.empty());
  CHECK_THROWS_WITH_AS(apply_assignment(config, "title=caf\xe9"), doctest::Contains("byte 4"), UsageError);
}

TEST_CASE("keys keep their order") { CHECK(parse_json(R"({"z": 1, "a": 2})").dump() == R"({"z":1,"a":2})"); }

TEST_CASE("a file that cannot be read says why") {
  CHECK(config_error_of([] { read_text("no/such/file.json"); }) == "/: no such file");
  CHECK(config_error_of([] { read_text(std::filesystem::temp_directory_path()); }) ==
        "/: is a folder; a file is needed");
  CHECK(config_error_of([] {
          in_file("config.json", [] { return parse_json("[1,]"); });
        }).starts_with("config.json: not JSON"));
  const auto missing = [](const char* file) { return config_error_of([&] { read_text(file); }); };
  CHECK(missing("configs/frist.json") == "/: no such file; did you mean \"first.json\"?");
  CHECK(missing("configs/zzzzzzzzzz") == "/: no such file");
}

TEST_CASE("set_at makes objects on the way and keeps the rest") {
  Json config = parse_json(R"({"cost": {"c": 0.1}, "simulation": {"prompt": [1, 2]}})");
  set_at(config, "/cost/c_hat", 0.2, "/sweep");
  set_at(config, "/models/draft/alpha", 0.5, "/sweep");
  set_at(config, "/simulation/prompt/0", 7, "/sweep");
  set_at(config, "/simulation/prompt/2", 9, "/sweep");
  CHECK(
      config ==
      parse_json(
          R"({"cost": {"c": 0.1, "c_hat": 0.2}, "simulation": {"prompt": [7, 2, 9]}, "models": {"draft": {"alpha": 0.5}}})"));
}

TEST_CASE("set_at refuses paths that lead nowhere, at the place that gave the path") {
  Json config = parse_json(R"({"gamma": 5, "simulation": {"prompt": [1, 2]}})");
  for (const char* path : {"gamma", "/gamma/x", "/simulation/prompt/3", "/simulation/prompt/999999999999",
                           "/corpus/999999999999", "/no/such/999999999999", "/simulation/prompt/x",
                           "/simulation/prompt/-1", "/simulation/prompt/5/kind", "/a~2b"}) {
    CAPTURE(path);
    const std::string error = config_error_of([&] { set_at(config, path, 1, "/cases/0/set"); });
    CHECK(begins(error, "/cases/0/set: \"" + std::string(path) + "\" is not a path into the config"));
    CHECK(error.find("json.exception") == std::string::npos);
  }
  CHECK(config == parse_json(R"({"gamma": 5, "simulation": {"prompt": [1, 2]}})"));
}

TEST_CASE("--set takes dots or slashes, and JSON or text") {
  Json config = Json::object();
  apply_assignment(config, "gamma=3");
  apply_assignment(config, "models.draft.alpha=0.9");
  apply_assignment(config, "/models/draft/kind=mixture");
  apply_assignment(config, "title=\"5\"");
  apply_assignment(config, "about=a = b");
  apply_assignment(config, "simulation.prompt=[1, 2]");
  apply_assignment(config, "source=");
  apply_assignment(config, "sweep./models/draft.alpha=[0.5]");
  CHECK(config == parse_json(R"({"gamma": 3, "models": {"draft": {"alpha": 0.9, "kind": "mixture"}},
                                 "title": "5", "about": "a = b", "simulation": {"prompt": [1, 2]}, "source": "",
                                 "sweep": {"/models/draft/alpha": [0.5]}})"));
  for (const auto& [text, value] : {std::pair{".3", Json(0.3)},
                                    {"-.3e1", Json(-3.0)},
                                    {"[.5,0.25, .125]", Json({0.5, 0.25, 0.125})},
                                    {"{a: .5}", Json("{a: .5}")},
                                    {".5 of it", Json(".5 of it")},
                                    {"\".5\"", Json(".5")},
                                    {"..5", Json("..5")},
                                    {"data/.5", Json("data/.5")}}) {
    apply_assignment(config, std::string("about=") + text);
    CHECK(config["about"] == value);
  }
  apply_assignment(config, "models.draft.alpha=null");
  apply_assignment(config, "/sweep=null");
  CHECK(config["models"] == parse_json(R"({"draft": {"kind": "mixture"}})"));
  CHECK_FALSE(config.contains("sweep"));
  CHECK_THROWS_AS(apply_assignment(config, "gamma.x=null"), ConfigError);
  CHECK_THROWS_AS(apply_assignment(config, "gamma"), UsageError);
  CHECK_THROWS_AS(apply_assignment(config, "=3"), UsageError);
  CHECK_THROWS_AS(apply_assignment(config, "gamma.x=3"), ConfigError);
  CHECK_THROWS_AS(apply_assignment(config, R"(cost={"c": 1, "c": 2})"), ConfigError);
}
