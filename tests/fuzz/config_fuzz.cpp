// Parses, reads, expands and writes config files.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/format/json_io.hpp"
#include "experiments/config/cells.hpp"
#include "experiments/config/config.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace speclab;
  return refused_or_read([&] {
    const Json json = parse_json(std::string(data, data + size));
    const Config config = read_config(json);
    // A config that was read must read again as itself.
    if (config_json(read_config(config_json(config))) != config_json(config)) std::abort();
    if (config.sweep && config.sweep->size() > 3) return;  // another test covers configs with endless cells
    const std::vector<CellSpec> cells = expand(config);
    if (cells.empty()) std::abort();
  });
}
