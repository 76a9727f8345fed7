#include "experiments/base/format/type.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "experiments/config/config.hpp"
#include "experiments/config/config_types.hpp"

using namespace speclab;

namespace {

std::string moved(const std::string& path) { return "there/" + path; }

}  // namespace

TEST_CASE("paths of input files are placed by their types, and equal texts elsewhere stay") {
  Json config{{"title", "a.txt"},
              {"about", "a.txt"},
              {"corpus", {{"file", "a.txt"}, {"tokenization", "words"}}},
              {"models",
               {{"target", {{"kind", "table"}, {"file", "a.txt"}}},
                {"draft", {{"kind", "mixture"}, {"base", {{"kind", "table"}, {"file", "a.txt"}}}}}}},
              {"compare", {{"tasks", {{{"name", "a.txt"}, {"corpus", {{"file", "a.txt"}}}}}}}},
              {"figures", {{{"title", "a.txt"}}}}};
  place_input_files(*config_type().type, config, moved);
  CHECK(config["title"] == "a.txt");
  CHECK(config["about"] == "a.txt");
  CHECK(config["figures"][0]["title"] == "a.txt");
  CHECK(config["compare"]["tasks"][0]["name"] == "a.txt");
  CHECK(config["corpus"]["file"] == "there/a.txt");
  CHECK(config["models"]["target"]["file"] == "there/a.txt");
  CHECK(config["models"]["draft"]["base"]["file"] == "there/a.txt");
  CHECK(config["compare"]["tasks"][0]["corpus"]["file"] == "there/a.txt");
}

TEST_CASE("what is no value of its type is left for the reader to refuse") {
  const Json wrong{{"corpus", {{"file", 3}}},
                   {"models", {{"target", "a.txt"}, {"draft", {{"kind", "none"}, {"file", "a.txt"}}}}},
                   {"compare", {{"tasks", "a.txt"}}}};
  Json config = wrong;
  place_input_files(*config_type().type, config, moved);
  CHECK(config == wrong);
}

TEST_CASE("the type at a path of a sweep is that of the value") {
  std::string pointer = "/corpus/file";
  Json value = "a.txt";
  place_input_files(*type_at(pointer), value, moved);
  CHECK(value == "there/a.txt");
  pointer = "/models/target/file";
  value = "a.txt";
  place_input_files(*type_at(pointer), value, moved);
  CHECK(value == "there/a.txt");
  pointer = "/title";
  value = "a.txt";
  place_input_files(*type_at(pointer), value, moved);
  CHECK(value == "a.txt");
}
