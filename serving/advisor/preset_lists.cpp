#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/page/table.hpp"
#include "serving/advisor/log_format.hpp"
#include "serving/advisor/presets.hpp"
#include "serving/advisor/server_settings.hpp"

namespace speclab {

SPECLAB_RESULT(Device, "device", name, flops_16bit, flops_8bit, flops_fp8, flops_4bit, bandwidth, memory,
               link, source);
SPECLAB_RESULT(Transformer, "language model", name, repository, layers, hidden, heads, kv_heads, head_size,
               feed_forward, vocab, experts, active_experts, encoder_layers, published, source);
SPECLAB_RESULT(ServerOption, "option", server, option, version, source);

namespace {

/// Searchable lists are printed in full.
constexpr std::size_t whole_table = 0;
constexpr double tera = 1e12;

template <class T>
Json json_of(const std::vector<T>& values) {
  Json all;
  write(list(described<T>()), values, all);
  return all;
}

Json listed_models() {
  Json all = json_of(model_presets());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Transformer& model = model_presets()[i];
    // These numbers follow from the shape; the cache has 16 bits.
    all[i].update({{"parameters", parameters(model)},
                   {"active_parameters", active_parameters(model)},
                   {"cache_bytes_per_token", cache_bytes(model, 1, {})}});
  }
  return all;
}

Json logs_json() {
  Json all = Json::array();
  for (const LogFormat& format : log_formats()) {
    all.push_back({{"name", format.name},
                   {"server", format.server},
                   {"sentence", format.sentence},
                   {"source", format.source},
                   {"sample", format.sample}});
  }
  return all;
}

std::string logs_text() {
  std::string out = "Formats of logs, in the order in which plan log tries them.\n";
  for (const LogFormat& format : log_formats()) {
    out += fmt::format("\n{} ({})\n  {}\n", format.name, format.server, format.sentence);
    if (*format.source != '\0') out += fmt::format("  source: {}\n", format.source);
    for (const TextLine& line : lines_of(format.sample, "")) out += "    " + line.text + "\n";
  }
  return out;
}

std::string options_text() {
  Table table{
      "options", "", {"server", "option", "version", "source"}, {}, "Options of servers that plans print."};
  for (const ServerOption& option : server_options()) {
    table.rows.push_back({text_cell(option.server), text_cell(option.option), text_cell(option.version),
                          text_cell(option.source)});
  }
  return terminal(table, whole_table);
}

std::string devices_text() {
  Table table{"devices",
              "",
              {"device", "TFLOP/s, 16-bit", "INT8", "FP8", "4-bit", "GB/s", "GB", "link GB/s", "source"},
              {},
              "Dense rates; where there is none, 16 bits are multiplied. The link in one direction."};
  const auto rate = [](double flops) { return flops > 0 ? number_cell(flops / tera) : text_cell(""); };
  for (const Device& device : device_presets()) {
    table.rows.push_back({text_cell(device.name), number_cell(device.flops_16bit / tera),
                          rate(device.flops_8bit), rate(device.flops_fp8), rate(device.flops_4bit),
                          number_cell(device.bandwidth / giga), number_cell(device.memory / giga),
                          number_cell(device.link / giga), text_cell(device.source)});
  }
  return terminal(table, whole_table);
}

std::string models_text() {
  Table table{
      "models",
      "",
      {"model", "parameters, 10^9", "active", "layers", "hidden", "heads", "kv heads", "vocabulary",
       "cache, KiB a token", "source"},
      {},
      "Parameters follow from the shape; the cache has 16 bits. For a model without layers only the size is known."};
  for (const Transformer& model : model_presets()) {
    table.rows.push_back({text_cell(model.name), number_cell(parameters(model) / giga),
                          number_cell(active_parameters(model) / giga), number_cell(model.layers),
                          number_cell(model.hidden), number_cell(model.heads), number_cell(model.kv_heads),
                          number_cell(model.vocab), number_cell(cache_bytes(model, 1, {}) / 1024),
                          text_cell(model.source)});
  }
  return terminal(table, whole_table);
}

}  // namespace

const std::vector<PresetList>& preset_lists() {
  static const std::vector<PresetList> lists{
      {"devices", [] { return json_of(device_presets()); }, devices_text},
      {"models", listed_models, models_text},
      {"options", [] { return json_of(server_options()); }, options_text},
      {"logs", logs_json, logs_text}};
  return lists;
}

}  // namespace speclab
