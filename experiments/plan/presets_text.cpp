#include "experiments/plan/presets_text.hpp"

#include <fmt/format.h>

#include <vector>

#include "experiments/format/config_error.hpp"
#include "experiments/presentation.hpp"
#include "experiments/report/page.hpp"

namespace speclab {

namespace {

constexpr double giga = 1e9;
constexpr double tera = 1e12;

template <class Preset>
const Preset& named(const std::vector<Preset>& presets, const std::string& name, const std::string& option,
                    const char* noun) {
  std::vector<std::string> names;
  for (const Preset& preset : presets) {
    if (preset.name == name) return preset;
    names.push_back(preset.name);
  }
  throw UsageError(fmt::format("{}: unknown {} \"{}\"{}", option, noun, name, suggestion(name, names)));
}

}  // namespace

const Device& device_named(const std::string& name, const std::string& option) {
  return named(device_presets(), name, option, "device");
}

const Transformer& model_named(const std::string& name, const std::string& option) {
  return named(model_presets(), name, option, "model");
}

Json devices_json() {
  Json all = Json::array();
  for (const Device& device : device_presets()) {
    all.push_back({{"name", device.name},
                   {"flops_16bit", device.flops_16bit},
                   {"flops_8bit", device.flops_8bit},
                   {"bandwidth", device.bandwidth},
                   {"memory", device.memory},
                   {"link", device.link},
                   {"power", device.power},
                   {"source", device.source}});
  }
  return all;
}

Json models_json() {
  Json all = Json::array();
  for (const Transformer& model : model_presets()) {
    all.push_back({{"name", model.name},
                   {"repository", model.repository},
                   {"layers", model.layers},
                   {"hidden", model.hidden},
                   {"heads", model.heads},
                   {"kv_heads", model.kv_heads},
                   {"head_size", model.head_size},
                   {"feed_forward", model.feed_forward},
                   {"vocab", model.vocab},
                   {"experts", model.experts},
                   {"active_experts", model.active_experts},
                   {"encoder_layers", model.encoder_layers},
                   {"parameters", parameters(model)},
                   {"active_parameters", active_parameters(model)},
                   {"published", model.published},
                   {"cache_bytes_per_token", cache_bytes(model, 1, {})},
                   {"source", model.source}});
  }
  return all;
}

std::string devices_text() {
  Table table{"devices",
              "",
              {"device", "TFLOP/s, 16-bit", "8-bit", "GB/s", "GB", "link GB/s", "W", "source"},
              {},
              "Dense rates; the link in one direction."};
  for (const Device& device : device_presets()) {
    table.rows.push_back({{device.name, {}, ""},
                          number_cell(device.flops_16bit / tera),
                          number_cell(device.flops_8bit / tera),
                          number_cell(device.bandwidth / giga),
                          number_cell(device.memory / giga),
                          number_cell(device.link / giga),
                          number_cell(device.power),
                          {device.source, {}, ""}});
  }
  return terminal(table);
}

std::string models_text() {
  Table table{"models",
              "",
              {"model", "parameters, 10^9", "active", "layers", "hidden", "heads", "kv heads", "vocabulary",
               "cache, KiB a token", "source"},
              {},
              "Parameters from the shape; the cache in 16 bits. A model without layers is known by its size "
              "alone."};
  for (const Transformer& model : model_presets()) {
    table.rows.push_back({{model.name, {}, ""},
                          number_cell(parameters(model) / giga),
                          number_cell(active_parameters(model) / giga),
                          number_cell(model.layers),
                          number_cell(model.hidden),
                          number_cell(model.heads),
                          number_cell(model.kv_heads),
                          number_cell(model.vocab),
                          number_cell(cache_bytes(model, 1, {}) / 1024),
                          {model.source, {}, ""}});
  }
  return terminal(table);
}

}  // namespace speclab
