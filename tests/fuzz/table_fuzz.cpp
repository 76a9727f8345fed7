// Reads tables of probabilities in CSV and JSON files, as models.
#include <nlohmann/json.hpp>

#include "experiments/config/config.hpp"
#include "experiments/run/setup.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace speclab;
  static const Json form{{"title", "t"},
                         {"models", {{"target", {{"kind", "table"}}}, {"draft", {{"kind", "uniform"}}}}}};
  return refused_or_read([&] {
    // The first byte tells which of the two formats the rest has.
    const char* name = size > 0 && data[0] == 'j' ? "table.json" : "table.csv";
    Json json = form;
    json["models"]["target"]["file"] = file_with(data + (size > 0), size > 0 ? size - 1 : 0, name).string();
    build_setup(read_config(json));
  });
}
