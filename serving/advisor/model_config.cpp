#include "serving/advisor/model_config.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/csv.hpp"
#include "serving/advisor/head_config.hpp"
#include "serving/advisor/model_families.hpp"
#include "serving/advisor/model_parts.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

/// Counts a model of unknown type by the keys that it shares with known ones, and notes it. Throws UsageError
/// if its feed-forward blocks may have two matrices or three. A head without activation is a Llama layer.
void add_unknown(Transformer& model, const ModelKeys& keys, bool head) {
  const std::string type = keys.text("model_type");
  std::string activation = keys.text("hidden_act");
  for (const char* key : {"hidden_activation", "mlp_hidden_act"}) {
    if (const std::string other = keys.text(key); !other.empty()) activation = other;
  }
  model.gated = activation != "relu2";
  if (head && activation.empty()) return;
  if (activation != "silu" && activation != "relu2") {
    keys.refuse(
        "model_type",
        fmt::format(
            "\"{}\" is not known, and no activation \"silu\" or \"relu2\" says whether its feed-forward blocks have three matrices or two{}; {}",
            type, activation.empty() ? "" : fmt::format(" (its own is \"{}\")", activation), way_out));
  }
  model.notes.push_back(fmt::format(
      "{}: {}/model_type \"{}\" is not known: its weights and cache are counted by the keys that it shares with known models, and are wrong if its code does what no key says. To be sure, {}.",
      keys.file, keys.within, type, way_out));
}

/// Returns the key of the object that describes the language model: the text part of a model with several
/// kinds of input, or the layer of a head in the form of speculators; "" if it is the file's own.
const char* nested_part(const ModelKeys& outer) {
  if (outer.has("hidden_size")) return "";
  for (const char* part : {"text_config", "transformer_layer_config"}) {
    if (outer.has(part) && outer.object[part].is_object()) return part;
  }
  return "";
}

/// Replaces by null the numbers Infinity and NaN, which Python writes into JSON, outside of texts.
std::string without_infinity(std::string text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && quoted) {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
        if (text.compare(i, word.size(), word) == 0) text.replace(i, word.size(), "null");
      }
    }
  }
  return text;
}

/// Returns the lines within the fence ``` of Markdown, if the text is one.
std::string without_fence(std::string text) {
  if (!first_line_of(text).starts_with("```")) return text;
  text.erase(0, text.find('\n', text.find("```")));
  return text.substr(0, text.rfind("```"));
}

Json json_of(const std::string& file) {
  const Json whole =
      in_file(file, [&] { return parse_json(without_infinity(without_fence(read_text(file)))); });
  if (!whole.is_object()) throw UsageError(file + ": expected an object, the config.json of a model");
  return whole;
}

/// Returns the bytes of all weights by the index beside a config.json; 0 without an index.
double indexed_bytes(const std::string& config) {
  const std::string file = (fs::path(config).parent_path() / "model.safetensors.index.json").string();
  if (fs::path(config).filename() != "config.json" || !fs::exists(file)) return 0;
  const Json whole = json_of(file);
  const Json& bytes = whole.value("/metadata/total_size"_json_pointer, Json());
  if (!bytes.is_number() || bytes.get<double>() <= 0)
    throw UsageError(file + ": /metadata/total_size: missing; expected the bytes of all weights");
  return bytes.get<double>();
}

/// Returns the longest context, with scaled rotations; 0 if the config does not say.
double longest_context(const ModelKeys& keys) {
  const double trained = keys.dimension({"max_position_embeddings", "n_positions"}).value_or(0);
  double most = trained;
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const Json scaling = keys.object.value(key, Json());
    const auto number = [&](const char* name, double otherwise) {
      const Json value = scaling.is_object() ? scaling.value(name, Json()) : Json();
      return value.is_number() ? value.get<double>() : otherwise;
    };
    most = std::max(most, number("factor", 1) * number("original_max_position_embeddings", trained));
  }
  return most;
}

/// Adds the sizes of layers and vocabulary, which every model has.
void add_sizes(Transformer& model, const ModelKeys& keys, const ModelKeys& outer, const ModelFamily& family) {
  const bool encoder = outer.flag("is_encoder_decoder", false);
  if (encoder) model.encoder_layers = keys.required({"num_layers", "encoder_layers"});
  model.layers =
      encoder && keys.has("num_decoder_layers")
          ? keys.required({"num_decoder_layers"})
          : keys.dimension({"num_hidden_layers", "num_decoder_layers", "n_layer", "n_layers", "num_layers"})
                .value_or(0);
  if (const auto blocks = static_cast<int>(block_pattern(keys, family).size()); blocks > 0) {
    if (model.layers > 0 && model.layers != blocks)
      keys.refuse("num_hidden_layers", fmt::format("{}, but the pattern has {}", model.layers, blocks));
    model.layers = blocks;
  }
  if (model.layers == 0) keys.required({"num_hidden_layers"});
  model.hidden = keys.required({"hidden_size", "d_model", "n_embd"});
  model.heads = keys.required({"num_attention_heads", "num_heads", "n_head", "n_heads"});
  const int kv_heads = keys.dimension({"num_key_value_heads", "num_kv_heads"}).value_or(model.heads);
  // Configs of the first Falcons also state num_kv_heads, which their code does not read.
  const bool multi_query = keys.flag("multi_query", false) && !keys.flag("new_decoder_architecture", false);
  model.kv_heads = multi_query ? 1 : kv_heads;
  const auto head_size = keys.dimension({"head_dim", "d_kv", "attention_head_dim"});
  if (!head_size && model.heads > 0 && model.hidden % model.heads != 0)
    keys.refuse("num_attention_heads",
                fmt::format("{} heads do not divide a hidden size of {}", model.heads, model.hidden));
  model.head_size = head_size.value_or(model.hidden / model.heads);
  model.feed_forward = keys.dimension({"intermediate_size", "d_ff", "n_inner", "ffn_dim", "ffn_hidden_size"})
                           .value_or(4 * model.hidden);
  model.vocab = keys.required({"vocab_size"});
  // T5 has no limit: its n_positions is the length of its training texts.
  if (!encoder) model.positions = longest_context(keys);
  if (model.kv_heads < 1 || model.kv_heads > model.heads) {
    throw UsageError("{}: /num_key_value_heads: {}; expected 1 to {}", keys.file, model.kv_heads,
                     model.heads);
  }
  if (model.heads % model.kv_heads != 0)
    keys.refuse("num_key_value_heads", fmt::format("{} do not divide {} heads", model.kv_heads, model.heads));
  model.gated = family.gated.value_or(keys.text("feed_forward_proj").starts_with("gated"));
  model.tied = keys.flag("tie_word_embeddings", outer.flag("tie_word_embeddings", family.tied));
  if (const int width = keys.dimension({"word_embed_proj_dim"}).value_or(model.hidden); width != model.hidden)
    keys.refuse("word_embed_proj_dim",
                fmt::format("{} beside /hidden_size {}; {}", width, model.hidden, way_out));
}

/// Adds modules for multi-token prediction. The keys are those of DeepSeek-V3, GLM-4.5 and MiMo; of Qwen3.5;
/// and of MiniMax-M2, as vLLM 0.33 reads them (config/speculative.py).
void add_modules(Transformer& model, const ModelKeys& keys) {
  model.mtp_modules = keys.dimension({"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules",
                                      "num_mtp_layers"})
                          .value_or(0);
  if (const int layers = keys.dimension({"mtp_transformer_layers"}).value_or(1); layers != 1)
    keys.refuse("mtp_transformer_layers", fmt::format("{}; modules of one layer are known", layers));
  keys.flag("use_mtp", true);
  // A module of Nemotron-3 is one attention and one block of experts, as its last layers are.
  if (const std::string pattern = keys.text("mtp_hybrid_override_pattern");
      !pattern.empty() && pattern != "*E")
    keys.refuse("mtp_hybrid_override_pattern", fmt::format("\"{}\"; modules of \"*E\" are known", pattern));
  if (const auto blocks = keys.texts("mtp_layers_block_type");
      !blocks.empty() && blocks != std::vector<std::string>{"attention", "moe"})
    keys.refuse("mtp_layers_block_type", "modules of attention and moe are known");
}

/// Reads keys that a model has besides its language model, and says what is not counted.
void check_outer(Transformer& model, const ModelKeys& outer, const char* part) {
  for (const char* key : {part, "model_type", "architectures", "quantization_config"}) outer.has(key);
  outer.refuse_unknown();
  if (outer.has("vision_config") || outer.has("audio_config"))
    model.notes.push_back(outer.file + ": only the language model is counted, neither vision nor audio.");
}

}  // namespace

bool is_model_config(const std::string& name) {
  std::error_code ignored;
  return name.ends_with(".json") || fs::exists(name, ignored);
}

Transformer model_from_config(const std::string& name) {
  const fs::path path = name;
  const bool folder = fs::is_directory(path);
  const bool index = name.ends_with(".index.json");
  const std::string file =
      folder || index ? ((folder ? path : path.parent_path()) / "config.json").string() : name;
  if (index && !fs::exists(file))
    throw UsageError(
        "{}: an index states bytes alone, and {} is missing beside it; put the model's config.json there, or {}",
        name, file, way_out);
  const Json whole = json_of(file);
  // ModelOpt states the numbers of weights in a file of its own.
  const std::string beside = (fs::path(file).parent_path() / "hf_quant_config.json").string();
  Transformer model = fs::exists(beside) ? model_from_json(whole, file, {json_of(beside), beside})
                                         : model_from_json(whole, file);
  // Servers also accept the folder, if it is that of the model.
  const fs::path config(file);
  if (model.repository.empty() && config.filename() == "config.json")
    model.repository = config.parent_path().string();
  model.name = model.repository.empty() ? config.stem().string() : model.repository;
  if (model.head == HeadKind::medusa) return model;
  model.index_bytes = indexed_bytes(file);
  return model;
}

Transformer model_from_json(const Json& whole, const std::string& file, const QuantizationFile& beside) {
  const ModelKeys outer{whole, file};
  const char* const part = nested_part(outer);
  const ModelKeys keys = *part == '\0' ? outer : ModelKeys{whole[part], file, std::string("/") + part};
  const HeadKind head = head_kind(outer, keys);
  Transformer model = head == HeadKind::medusa ? medusa_heads(keys) : Transformer{};
  model.repository = outer.text("_name_or_path");
  model.source = file;
  if (head == HeadKind::medusa) return model;
  const ModelFamily* const known = family_of(outer, keys);
  const ModelFamily family = known != nullptr ? *known : ModelFamily{};
  add_sizes(model, keys, outer, family);
  if (known == nullptr) add_unknown(model, keys, head != HeadKind::none);
  for (const auto& [key, has] :
       {std::pair{"use_gated_activation", model.gated}, {"use_embedding_sharing", model.tied}}) {
    if (keys.flag(key, has) != has) keys.refuse(key, fmt::format("{}; {}", !has, way_out));
  }
  add_modules(model, keys);
  add_experts(model, keys, family);
  add_mixers(model, keys, family, (head == HeadKind::eagle3 ? 2 : 1) * model.hidden);
  add_head(model, head, outer, keys);
  const std::string blocks = block_pattern(keys, family);
  const bool within = keys.has("quantization_config");
  if (!beside.file.empty()) {
    add_stored(model, {beside.whole, beside.file}, "quantization", blocks);
  } else {
    add_stored(model, within ? keys : outer, "quantization_config", blocks);
  }
  if (!model.stored) model.stored_as = outer.text(outer.has("dtype") ? "dtype" : "torch_dtype");
  if (keys.text("expert_dtype") == "fp4" && model.stored) model.stored->experts = mxfp4_bytes;
  keys.refuse_unknown();
  if (*part != '\0') check_outer(model, outer, part);
  return model;
}

}  // namespace speclab
