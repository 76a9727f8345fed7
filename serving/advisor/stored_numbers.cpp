#include "serving/advisor/stored_numbers.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string/case_conv.hpp>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

namespace {

const char* const remedy =
    "give --dtype (bf16, fp8, int8 or int4) for all weights, and remove the key from a copy of the file";

std::string of_bits(const ModelKeys& keys, int bits, bool floats) {
  if (bits == 8) return floats ? "fp8" : "int8";
  if (bits == 4) return floats ? "mixed" : "int4";
  keys.refuse("bits", fmt::format("{} bits are not known; {}", bits, remedy));
}

/// Returns the weights' numbers in the groups of compressed-tensors and ModelOpt; "" if there are no groups.
std::string of_groups(const ModelKeys& keys) {
  if (!keys.has("config_groups") || !keys.object["config_groups"].is_object()) return "";
  std::string found;
  for (const auto& [name, group] : keys.object["config_groups"].items()) {
    if (!group.is_object() || !group.contains("weights") || !group["weights"].is_object()) continue;
    const ModelKeys weights{group["weights"], keys.file, keys.within + "/config_groups/" + name + "/weights"};
    const std::string own = of_bits(weights, weights.required({"num_bits"}), weights.text("type") == "float");
    found = found.empty() || found == own ? own : "mixed";
  }
  return found;
}

std::string of_method(const ModelKeys& keys) {
  const std::string groups = of_groups(keys);
  if (!groups.empty()) return groups;
  const std::string algorithm = boost::algorithm::to_lower_copy(keys.text("quant_algo"));
  const std::string method = algorithm.empty() ? keys.text("quant_method") : algorithm;
  if (method.starts_with("fp8") || method == "fbgemm_fp8") return "fp8";
  if (method == "nvfp4" || method == "mxfp4" || method == "mixed_precision") return "mixed";
  if (method == "gptq" || method == "awq") return of_bits(keys, keys.required({"bits", "w_bit"}), false);
  if (method == "bitsandbytes") {
    if (keys.flag("load_in_4bit", false)) return "int4";
    if (keys.flag("load_in_8bit", false)) return "int8";
  }
  keys.refuse("quant_method", fmt::format("\"{}\" is not known; {}", method, remedy));
}

/// Returns true if the cache has 8 bits; ModelOpt names its numbers, compressed-tensors describes them.
bool eight_bit_cache(const ModelKeys& keys) {
  if (keys.has("kv_cache_scheme") && keys.object["kv_cache_scheme"].is_object()) {
    const ModelKeys scheme{keys.object["kv_cache_scheme"], keys.file, keys.within + "/kv_cache_scheme"};
    const int bits = scheme.required({"num_bits"});
    if (bits != 8) scheme.refuse("num_bits", fmt::format("{} bits are not known", bits));
    return true;
  }
  const std::string name =
      boost::algorithm::to_lower_copy(keys.text("kv_cache_quant_algo") + keys.text("kv_cache_scheme"));
  if (!name.empty() && name != "fp8" && name != "int8")
    keys.refuse("kv_cache_quant_algo", fmt::format("\"{}\" is not known", name));
  return !name.empty();
}

}  // namespace

StoredNumbers stored_numbers(const ModelKeys& keys, const char* key) {
  if (!keys.has(key) || !keys.object[key].is_object()) return {};
  const ModelKeys how{keys.object[key], keys.file, keys.within + "/" + key};
  return {of_method(how), eight_bit_cache(how)};
}

}  // namespace speclab
