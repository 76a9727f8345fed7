#include "experiments/plan/presets.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "experiments/config/config_error.hpp"
#include "experiments/config/fields.hpp"
#include "experiments/report/cells.hpp"
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

const Typed<Device>& device_type() {
  static const auto type = object<Device>(
      "device", "An accelerator, from its vendor's data sheet; dense rates in SI units.",
      {field("name", &Device::name, text(), "Its name."),
       field("flops_16bit", &Device::flops_16bit, any_number(), "FLOP/s in bfloat16 or float16."),
       field("flops_8bit", &Device::flops_8bit, any_number(), "FLOP/s in FP8 or INT8."),
       field("bandwidth", &Device::bandwidth, any_number(), "Bytes/s of its memory."),
       field("memory", &Device::memory, any_number(), "Bytes."),
       field("link", &Device::link, any_number(), "Bytes/s to other devices, in one direction."),
       field("power", &Device::power, any_number(), "Limit of the board, W."),
       field("source", &Device::source, text(), "Of these numbers.")});
  return type;
}

const Typed<Transformer>& transformer_type() {
  constexpr double most = 1e9;
  static const auto type = object<Transformer>(
      "language model", "The shape of a Transformer, as its config.json gives it.",
      {field("name", &Transformer::name, text(), "Its name."),
       field("repository", &Transformer::repository, text(), "As servers know it."),
       integer_field("layers", &Transformer::layers, 0, most, "Of the decoder."),
       integer_field("hidden", &Transformer::hidden, 0, most, "Width."),
       integer_field("heads", &Transformer::heads, 0, most, "Of attention."),
       integer_field("kv_heads", &Transformer::kv_heads, 0, most, "Of keys and values."),
       integer_field("head_size", &Transformer::head_size, 0, most, "Width of a head."),
       integer_field("feed_forward", &Transformer::feed_forward, 0, most, "Width of a feed-forward block."),
       integer_field("vocab", &Transformer::vocab, 0, most, "Tokens."),
       integer_field("experts", &Transformer::experts, 0, most, "Feed-forward blocks a layer."),
       integer_field("active_experts", &Transformer::active_experts, 0, most, "Of which a token uses these."),
       integer_field("encoder_layers", &Transformer::encoder_layers, 0, most, "Of the encoder."),
       field("published", &Transformer::published, any_number(), "Parameters, as published."),
       field("source", &Transformer::source, text(), "Of these numbers.")});
  return type;
}

/// What follows from the shape.
struct ModelSize {
  double parameters = 0;
  double active_parameters = 0;
  double cache_bytes_per_token = 0;
};

const Typed<ModelSize>& size_type() {
  static const auto type = object<ModelSize>(
      "size", "What follows from the shape.",
      {field("parameters", &ModelSize::parameters, any_number(), "All of them."),
       field("active_parameters", &ModelSize::active_parameters, any_number(), "That a token multiplies."),
       field("cache_bytes_per_token", &ModelSize::cache_bytes_per_token, any_number(), "In 16 bits.")});
  return type;
}

}  // namespace

const Device& device_named(const std::string& name, const std::string& option) {
  return named(device_presets(), name, option, "device");
}

const Transformer& model_named(const std::string& name, const std::string& option) {
  return named(model_presets(), name, option, "model");
}

Json devices_json() {
  Json all;
  write(list(device_type()), device_presets(), all);
  return all;
}

Json models_json() {
  Json all;
  write(list(transformer_type()), model_presets(), all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Transformer& model = model_presets()[i];
    // Two descriptions write into one object.
    write(size_type(), {parameters(model), active_parameters(model), cache_bytes(model, 1, {})}, all[i]);
  }
  return all;
}

std::string devices_text() {
  Table table{"devices",
              "",
              {"device", "TFLOP/s, 16-bit", "8-bit", "GB/s", "GB", "link GB/s", "W", "source"},
              {},
              "Dense rates; the link in one direction.",
              false};
  for (const Device& device : device_presets()) {
    table.rows.push_back({text_cell(device.name), number_cell(device.flops_16bit / tera),
                          number_cell(device.flops_8bit / tera), number_cell(device.bandwidth / giga),
                          number_cell(device.memory / giga), number_cell(device.link / giga),
                          number_cell(device.power), text_cell(device.source)});
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
              "alone.",
              false};
  for (const Transformer& model : model_presets()) {
    table.rows.push_back({text_cell(model.name), number_cell(parameters(model) / giga),
                          number_cell(active_parameters(model) / giga), number_cell(model.layers),
                          number_cell(model.hidden), number_cell(model.heads), number_cell(model.kv_heads),
                          number_cell(model.vocab), number_cell(cache_bytes(model, 1, {}) / 1024),
                          text_cell(model.source)});
  }
  return terminal(table);
}

}  // namespace speclab
