// Presets are data: devices.json and models.json. A model is a config.json as its repository publishes it, or
// the number of its parameters alone.

#include "serving/advisor/presets.hpp"

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "serving/advisor/model_config.hpp"
#include "serving/advisor/model_parts.hpp"

namespace speclab {

extern const std::string_view devices_json;
extern const std::string_view models_json;

namespace {

/// Describes a device in the units of data sheets. Outside these ranges a number is in another unit.
const Typed<Device>& device_sheet() {
  using D = Device;
  constexpr double most = 1e5;
  static const auto type = object<D>(
      "device", "A device, by its data sheet.",
      {required(field("name", &D::name, text(), "Its name.")),
       required(field("tflops_16bit", &D::flops_16bit, number(1e-3, most),
                      "Dense matrices in bfloat16 or float16, TFLOP/s.")),
       field("tflops_8bit", &D::flops_8bit, number(0, most), "The same in INT8; 0: none."),
       field("tflops_fp8", &D::flops_fp8, number(0, most), "In FP8; 0: none (default: as tflops_8bit)."),
       field("tflops_4bit", &D::flops_4bit, number(0, most), "The same in 4-bit floats; 0: none."),
       required(field("gb_per_s", &D::bandwidth, number(10, most), "Bandwidth of its memory, 10^9 bytes/s.")),
       required(field("gb", &D::memory, number(1, 1e4), "Its memory, 10^9 bytes.")),
       required(field("link_gb_per_s", &D::link, number(1e-3, most),
                      "Bandwidth to other devices in one direction, 10^9 bytes/s.")),
       field("source", &D::source, text(), "Where the numbers are from.")});
  return type;
}

Device device_of(const Json& json, const std::string& path) {
  Device device = read(device_sheet(), json, path);
  if (!json.contains("tflops_fp8")) device.flops_fp8 = device.flops_8bit;
  for (double* rate : {&device.flops_16bit, &device.flops_8bit, &device.flops_fp8, &device.flops_4bit})
    *rate *= 1e12;
  for (double* bytes : {&device.bandwidth, &device.memory, &device.link}) *bytes *= 1e9;
  return device;
}

Transformer model_of(const Json& entry) {
  const std::string name = entry["name"];
  Transformer model;
  if (entry.contains("config")) model = model_from_json(entry["config"], name);
  model.name = name;
  model.repository = entry.value("repository", "");
  model.published = entry.value("parameters", 0.0);
  model.published_active = entry.value("active_parameters", 0.0);
  model.source = entry.value("source", "config.json of " + model.repository);
  return model;
}

/// Returns the presets of a table, each read by `read_one`.
template <class Preset>
std::vector<Preset> presets_in(std::string_view table, Preset (*read_one)(const Json&)) {
  std::vector<Preset> all;
  for (const Json& one : Json::parse(table)) all.push_back(read_one(one));
  return all;
}

/// Returns the preset with this name, in lower or upper case. `instead` says what else may be given.
template <class Preset>
const Preset& named(const std::vector<Preset>& presets, const std::string& name, const std::string& path,
                    const char* noun, const char* instead = "") {
  return named_entry(presets, boost::algorithm::to_lower_copy(name), [&](const std::string& near) {
    return ConfigError(path, "unknown {}\"{}\"{}{}", noun, name, instead, near);
  });
}

}  // namespace

const std::vector<Device>& device_presets() {
  static const auto all =
      presets_in<Device>(devices_json, [](const Json& one) { return device_of(one, "/devices"); });
  return all;
}

const std::vector<Transformer>& model_presets() {
  static const auto all = presets_in<Transformer>(models_json, model_of);
  return all;
}

Device device_named(const std::string& name, const std::string& path) {
  if (name.ends_with(".json"))
    return in_file(name, [&] { return device_of(parse_json(read_text(name)), ""); });
  return named(device_presets(), name, path, "device ", " (or give a .json file with its numbers)");
}

Transformer model_named(const std::string& name, const std::string& path) {
  if (is_model_config(name)) return model_from_config(name);
  for (const Transformer& one : model_presets()) {
    if (boost::algorithm::iequals(one.repository, name) && !name.empty()) return one;
  }
  return named(model_presets(), name, path, "model ", " (or give the path of a config.json)");
}

Precision precision_named(const std::string& name, const std::string& path) {
  struct NamedPrecision {
    std::string name;
    Precision precision;
  };
  static const std::vector<NamedPrecision> all{{"bf16", {}},
                                               {"fp16", {}},
                                               {"fp8", {1, 2, MatrixFormat::fp8}},
                                               {"int8", {1, 2, MatrixFormat::int8}},
                                               {"nvfp4", {nvfp4_bytes, 2, MatrixFormat::fp4}},
                                               {"mxfp4", {mxfp4_bytes}},
                                               {"int4", {int4_bytes}}};
  return named(all, name, path, "").precision;
}

Precision precision_of(const Transformer& model, Precision otherwise) {
  if (model.stored) otherwise.arithmetic = model.arithmetic;
  otherwise.cache_bytes = model.eight_bit_cache ? 1 : 2;
  return otherwise;
}

}  // namespace speclab
