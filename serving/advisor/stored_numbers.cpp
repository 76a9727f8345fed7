#include "serving/advisor/model_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cctype>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace speclab {

namespace {

const char* const remedy =
    "give --dtype (bf16, fp8, nvfp4, mxfp4, int8 or int4) for all weights, and remove the key from a copy of the file";

struct Numbers {
  std::string name = "bf16";
  double bytes = 2;
  MatrixFormat arithmetic = MatrixFormat::sixteen_bits;
};

/// Returns numbers of these bits in blocks of `group` numbers (0: blocks so large that scales do not count).
/// Integers have a scale of 16 bits a block.
Numbers of_bits(const ModelKeys& keys, int bits, bool floats, int group) {
  const double scale = group > 0 ? 2.0 / group : 0;
  if (bits == 8)
    return floats ? Numbers{"fp8", 1, MatrixFormat::fp8} : Numbers{"int8", 1 + scale, MatrixFormat::int8};
  if (bits == 4 && floats)
    return group == 32 ? Numbers{"mxfp4", mxfp4_bytes} : Numbers{"nvfp4", nvfp4_bytes, MatrixFormat::fp4};
  if (bits == 4) return {"int4", 0.5 + scale};
  keys.refuse("bits", fmt::format("{} bits are not known; {}", bits, remedy));
}

/// Returns the numbers of an algorithm of ModelOpt or a method of Transformers.
Numbers named_numbers(const ModelKeys& keys, std::string name) {
  boost::to_lower(name);
  if (name.starts_with("fp8") || name == "fbgemm_fp8") return {"fp8", 1, MatrixFormat::fp8};
  if (name == "nvfp4") return {"nvfp4", nvfp4_bytes, MatrixFormat::fp4};
  if (name == "w4a16_nvfp4") return {"nvfp4", nvfp4_bytes};
  if (name == "mxfp4") return {"mxfp4", mxfp4_bytes};
  if (name == "gptq" || name == "awq")
    return of_bits(keys, keys.required({"bits", "w_bit"}), false,
                   keys.dimension({"group_size", "q_group_size"}).value_or(128));
  if (name == "bitsandbytes") {
    if (keys.flag("load_in_4bit", false)) return of_bits(keys, 4, false, 0);
    if (keys.flag("load_in_8bit", false)) return of_bits(keys, 8, false, 0);
  }
  keys.refuse("quant_method", fmt::format("\"{}\" is not known; {}", name, remedy));
}

/// The bytes of a parameter in each layer, from which a checkpoint's lists of modules take layers and parts.
class LayerTable {
 public:
  LayerTable(const Transformer& model, const std::string& blocks)
      : model_(model), blocks_(blocks), experts_(layers()), feed_forward_(layers()), mixers_(layers()) {}

  /// Gives the modules that a pattern names these bytes. Returns false if it names none that is known.
  bool assign(std::string pattern, double bytes);
  void assign_all(double bytes) {
    for (std::vector<double>* part : {&experts_, &feed_forward_, &mixers_}) std::ranges::fill(*part, bytes);
    modules_ = bytes;
  }
  StoredBytes means() const;

 private:
  std::vector<double> layers() const {
    return std::vector<double>(static_cast<std::size_t>(model_.layers), 2.0);
  }
  /// A layer without experts has a dense block; those are the first, unless the pattern of blocks says which.
  bool has_experts(std::size_t layer) const {
    if (model_.experts < 2) return false;
    return blocks_.empty() ? static_cast<int>(layer) >= model_.dense_layers : blocks_[layer] == 'E';
  }
  double mean(const std::vector<double>& part, const auto& counts) const {
    double sum = 0;
    double layers = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (!counts(i)) continue;
      sum += part[i];
      ++layers;
    }
    return layers > 0 ? sum / layers : 2;
  }

  const Transformer& model_;
  const std::string& blocks_;
  std::vector<double> experts_, feed_forward_, mixers_;
  double output_ = 2;
  double modules_ = 2;
};

bool has_word(const std::string& text, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* word) { return boost::contains(text, word); });
}

/// Returns the layer that a pattern names by its number; -1 if it names all, or no layers.
int layer_in(const std::string& pattern) {
  constexpr std::string_view word = "layers.";
  const std::size_t at = pattern.find(word);
  if (at == std::string::npos || at + word.size() >= pattern.size()) return -1;
  const char* digits = pattern.c_str() + at + word.size();
  return std::isdigit(static_cast<unsigned char>(*digits)) != 0 ? std::atoi(digits) : -1;
}

bool LayerTable::assign(std::string pattern, double bytes) {
  boost::to_lower(pattern);
  boost::erase_all(pattern, "\\");
  // These have 16 bits in every checkpoint, or hardly count.
  if (has_word(pattern, {"norm", "bias", "embed", "router", "indexer", "conv1d", "in_proj_a", "in_proj_b",
                         "vision", "visual", "audio", "projector", "shared_expert_gate", "eh_proj"}))
    return true;
  if (boost::ends_with(pattern, "gate") || boost::ends_with(pattern, ".gate*")) return true;
  if (pattern == "linear") {
    assign_all(bytes);
    output_ = bytes;
    return true;
  }
  if (has_word(pattern, {"lm_head"}) || pattern == "head") {
    output_ = bytes;
    return true;
  }
  const int layer = layer_in(pattern);
  if (has_word(pattern, {"mtp"}) || layer >= model_.layers) {
    modules_ = bytes;
    return true;
  }
  const bool shared = has_word(pattern, {"shared_expert"});
  const bool experts = !shared && has_word(pattern, {"expert"});
  const bool mixer = !shared && !experts && has_word(pattern, {"attn", "attention", "mixer", "mamba"});
  const bool block = !shared && !experts && !mixer && has_word(pattern, {"mlp", "ffn", "feed_forward"});
  const bool whole = !shared && !experts && !mixer && !block;
  if (whole && layer < 0) return false;
  for (std::size_t i = 0; i < mixers_.size(); ++i) {
    if (layer >= 0 && static_cast<int>(i) != layer) continue;
    // A block of every layer without experts is dense; "mlp" of a layer with experts names all of it.
    if (experts || whole || (block && !has_word(pattern, {"_proj"}))) experts_[i] = bytes;
    if (shared || whole || (block && (!has_experts(i) || !has_word(pattern, {"_proj"}))))
      feed_forward_[i] = bytes;
    if (mixer || whole) mixers_[i] = bytes;
  }
  return true;
}

StoredBytes LayerTable::means() const {
  const auto with_experts = [&](std::size_t i) { return has_experts(i); };
  const auto any = [](std::size_t) { return true; };
  const auto mixing = [&](std::size_t i) {
    return blocks_.empty() || blocks_[i] == 'M' || blocks_[i] == '*';
  };
  StoredBytes bytes{.feed_forward = mean(feed_forward_, any),
                    .mixers = mean(mixers_, mixing),
                    .output = output_,
                    .modules = modules_};
  // The blocks of a model without experts count as experts.
  bytes.experts = model_.experts > 1 ? mean(experts_, with_experts) : bytes.feed_forward;
  return bytes;
}

/// Assigns numbers to modules by the groups of compressed-tensors, and returns those of most modules, if any.
Numbers assign_groups(LayerTable& table, const ModelKeys& keys, std::vector<std::string>& strange) {
  Numbers main;
  std::size_t most = 0;
  const auto groups = keys.within_object("config_groups");
  if (!groups) return main;
  for (const auto& [name, group] : groups->object.items()) {
    if (!group.is_object() || !group.contains("weights") || !group["weights"].is_object()) continue;
    const ModelKeys weights{group["weights"], keys.file, groups->within + "/" + name + "/weights"};
    const bool floats = weights.text("type") == "float";
    Numbers own = of_bits(weights, weights.required({"num_bits"}), floats,
                          weights.dimension({"group_size"}).value_or(0));
    if (!group.contains("input_activations") || group["input_activations"].is_null())
      own.arithmetic = MatrixFormat::sixteen_bits;
    const ModelKeys of_group{group, keys.file, groups->within + "/" + name};
    std::vector<std::string> targets = of_group.texts("targets");
    if (targets.empty()) targets = {"Linear"};
    for (const std::string& target : targets) {
      if (!table.assign(target, own.bytes)) strange.push_back(target);
    }
    if (targets.size() <= most) continue;
    most = targets.size();
    main = own;
  }
  return main;
}

/// Returns true if the cache has 8 bits; ModelOpt names its numbers, compressed-tensors describes them.
bool has_eight_bit_cache(const ModelKeys& keys) {
  if (keys.has("kv_cache_scheme") && keys.object["kv_cache_scheme"].is_object()) {
    const ModelKeys scheme = *keys.within_object("kv_cache_scheme");
    const int bits = scheme.required({"num_bits"});
    if (bits != 8) scheme.refuse("num_bits", fmt::format("{} bits are not known", bits));
    return true;
  }
  const std::string name =
      boost::to_lower_copy(keys.text("kv_cache_quant_algo") + keys.text("kv_cache_scheme"));
  if (!name.empty() && name != "fp8" && name != "int8")
    keys.refuse("kv_cache_quant_algo", fmt::format("\"{}\" is not known", name));
  return !name.empty();
}

/// Assigns the numbers that ModelOpt lists for each quantized module; returns those of most.
Numbers assign_listed(LayerTable& table, const ModelKeys& layers, std::vector<std::string>& strange) {
  std::map<std::string, std::size_t> counts;
  Numbers main;
  for (const auto& [name, how] : layers.object.items()) {
    const ModelKeys keys{how, layers.file, layers.within + "/" + name};
    const Numbers own = named_numbers(keys, keys.text("quant_algo"));
    if (!table.assign(name, own.bytes)) strange.push_back(name);
    const std::size_t count = ++counts[own.name];
    if (std::ranges::all_of(counts, [&](const auto& other) { return other.second <= count; })) main = own;
  }
  return main;
}

}  // namespace

void add_stored(Transformer& model, const ModelKeys& keys, const char* key, const std::string& blocks) {
  if (!keys.has(key) || !keys.object[key].is_object()) return;
  const ModelKeys how = *keys.within_object(key);
  LayerTable table(model, blocks);
  std::vector<std::string> strange;
  if (const auto other = how.within_object("dynamic"); other && !other->object.empty())
    how.refuse("dynamic", fmt::format("gives some modules another data type; {}", remedy));
  const auto listed = how.within_object("quantized_layers");
  const bool grouped = how.has("config_groups");
  Numbers main;
  // The checkpoint then has two methods: modules that ModelOpt does not list are in FP8. ModelOpt's own list
  // of exceptions names these modules, and is not read.
  const bool rest_in_fp8 = listed && boost::to_lower_copy(how.text("quant_method")) == "fp8";
  if (rest_in_fp8) table.assign_all(1);
  if (listed) {
    main = assign_listed(table, *listed, strange);
  } else if (grouped) {
    main = assign_groups(table, how, strange);
  } else {
    const std::string algorithm = how.text("quant_algo");
    main = named_numbers(how, algorithm.empty() ? how.text("quant_method") : algorithm);
    table.assign_all(main.bytes);
  }
  for (const char* exceptions :
       {"ignore", "modules_to_not_convert", "exclude_modules", "llm_int8_skip_modules"}) {
    for (const std::string& module : how.texts(exceptions)) {
      if (!rest_in_fp8 && !table.assign(module, 2)) strange.push_back(module);
    }
  }
  if (!strange.empty())
    model.notes.push_back(fmt::format(
        "{}: {}: {} modules with another data type, such as \"{}\", are not known: their bytes are counted as those of the rest.",
        how.file, how.within, strange.size(), strange.front()));
  model.stored = table.means();
  model.stored_as = main.name;
  model.arithmetic = main.arithmetic;
  model.eight_bit_cache = has_eight_bit_cache(how);
}

}  // namespace speclab
