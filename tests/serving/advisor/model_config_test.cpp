#include "serving/advisor/model_config.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "analysis/cost/device_speed.hpp"
#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/memory_fit.hpp"
#include "serving/advisor/model_families.hpp"
#include "serving/advisor/presets.hpp"

using namespace speclab;

namespace {

/// A folder with a config.json, removed at the end of the test.
class ModelFolder {
 public:
  explicit ModelFolder(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / "speclab_model_config_test") {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    std::ofstream(path_ / "config.json") << text;
  }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;
  ~ModelFolder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Transformer shape_in(const std::string& text) { return model_from_config(ModelFolder(text).path()); }

std::string shape_refusal(const std::string& text) {
  try {
    shape_in(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a config.json gives the parameters that its checkpoint has") {
  // Shapes are those that the models' repositories publish; parameters are counted as for presets.
  const Transformer llama = shape_in(R"({"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256})");
  CHECK(parameters(llama) == parameters(model_named("llama-3.1-8b", "")));
  CHECK(cache_bytes(llama, 1, {}) == cache_bytes(model_named("llama-3.1-8b", ""), 1, {}));
  const Transformer mixtral =
      shape_in(R"({"model_type": "mixtral", "num_hidden_layers": 32, "hidden_size": 4096,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000,
    "num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": null})");
  CHECK(parameters(mixtral) == parameters(model_named("mixtral-8x7b", "")));
  CHECK(active_parameters(mixtral) == active_parameters(model_named("mixtral-8x7b", "")));
  const Transformer gpt2 = shape_in(
      R"({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_inner": null, "vocab_size": 50257})");
  CHECK(parameters(gpt2) == parameters(model_named("gpt2", "")));
  const Transformer nested = shape_in(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
    "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "head_dim": 32, "vocab_size": 100,
    "sliding_window": 512, "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
    "sliding_attention"]}})");
  CHECK(nested.head_size == 32);
  REQUIRE(nested.mixers.size() == 2);
  CHECK(nested.mixers[0].layers == 3);
  CHECK(nested.mixers[0].window == 512);
  CHECK(nested.tied);
}

TEST_CASE("blocks that every token uses are read as such, by their width or by their number") {
  // Qwen1.5-MoE-A2.7B: 14.3e9 parameters, 2.7e9 of them active (its README.md, without embeddings).
  const Transformer qwen = shape_in(R"({"model_type": "qwen2_moe", "hidden_size": 2048,
    "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632,
    "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "num_experts": 60,
    "num_experts_per_tok": 4, "vocab_size": 151936, "tie_word_embeddings": false})");
  CHECK(qwen.experts == 60);
  CHECK(qwen.active_experts == 4);
  CHECK(parameters(qwen) ==
        24 * (4 * 2048.0 * 2048 + 3 * 2048.0 * (60 * 1408 + 5632) + 2048.0 * 60) + 2 * 2048.0 * 151936);
  CHECK(parameters(qwen) == doctest::Approx(14.315e9).epsilon(1e-4));
  // DeepSeek-V2-Lite: 15.7e9 parameters (its README.md); two shared experts of the common width.
  const std::string lite = R"("model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27,
    "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 10944,
    "moe_intermediate_size": 1408, "n_routed_experts": 64, "num_experts_per_tok": 6,
    "first_k_dense_replace": 1, "kv_lora_rank": 512, "q_lora_rank": null, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 102400, "tie_word_embeddings": false)";
  const Transformer two = shape_in("{" + lite + R"(, "n_shared_experts": 2})");
  CHECK(parameters(two) == doctest::Approx(15.7e9).epsilon(0.001));
  CHECK(two.experts == 64);
  CHECK(two.active_experts == 6);
  CHECK(two.shared_feed_forward == 2 * 1408);
  CHECK(shape_in("{" + lite + "}").shared_feed_forward == 0);
  CHECK(shape_refusal("{" + lite + R"(, "n_shared_experts": 99999999})").find("/n_shared_experts") !=
        std::string::npos);
}

TEST_CASE("a config.json that describes no known model is refused by file and key") {
  CHECK(shape_refusal("{}").find("/num_hidden_layers: missing") != std::string::npos);
  CHECK(shape_refusal(R"({"num_hidden_layers": 2.5})").find("2.5; expected an integer") != std::string::npos);
  CHECK(shape_refusal(R"({"num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 2,
    "num_key_value_heads": 3, "vocab_size": 9})")
            .find("num_key_value_heads") != std::string::npos);
  CHECK(shape_refusal(R"({"num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 8,
    "num_key_value_heads": 3, "vocab_size": 9})")
            .find("3 do not divide 8 heads") != std::string::npos);
  CHECK(shape_refusal(
            R"({"num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 3, "vocab_size": 9})")
            .find("3 heads do not divide a hidden size of 8") != std::string::npos);
  CHECK(shape_refusal("[]").find("expected an object") != std::string::npos);
  const auto unknown = [](const char* name) {
    try {
      model_named(name, "/target");
    } catch (const ConfigError& error) {
      return error.sentence();
    }
    return std::string();
  };
  CHECK(unknown("qwen3-33b")
            .starts_with(
                "/target: unknown model \"qwen3-33b\" (or give the path of a config.json); did you mean"));
  CHECK(unknown("qwen3-33b").find("t5-small") == std::string::npos);
  CHECK(model_named("Llama-3.1-8B", "--target").name == "llama-3.1-8b");
  CHECK(device_named("H100-SXM", "--device").name == "h100-sxm");
  CHECK(is_model_config("some/config.json"));
  CHECK_FALSE(is_model_config("llama-3.1-8b"));
}

namespace {

/// Returns a small decoder of 8 layers with these keys in addition; null removes a key.
Json small_config(const Json& more) {
  Json keys{{"model_type", "llama"},    {"hidden_act", "silu"},
            {"num_hidden_layers", 8},   {"hidden_size", 1024},
            {"num_attention_heads", 8}, {"num_key_value_heads", 8},
            {"head_dim", 128},          {"intermediate_size", 2048},
            {"vocab_size", 32000},      {"tie_word_embeddings", false}};
  if (!more.is_null()) keys.merge_patch(more);
  return keys;
}

Transformer small_model(const Json& more) { return shape_in(small_config(more).dump()); }
std::string small_refusal(const Json& more) { return shape_refusal(small_config(more).dump()); }

}  // namespace

TEST_CASE("published models have the parameters that their authors state") {
  struct Published {
    const char* keys;
    double total;   ///< 10^9 parameters
    double active;  ///< 10^9 parameters per token, 0 if all
  };
  // Shapes and numbers of parameters are those of the models' repositories and reports; active parameters of
  // Llama 4 and DeepSeek-V3 include the embedding, those of gpt-oss do not.
  const Published all[]{
      {R"({"model_type": "qwen3", "num_hidden_layers": 36, "hidden_size": 4096, "num_attention_heads": 32,
    "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288, "vocab_size": 151936,
    "use_sliding_window": false, "max_window_layers": 36, "sliding_window": null})",
       8.19, 0},
      {R"({"model_type": "qwen3", "num_hidden_layers": 64, "hidden_size": 5120, "num_attention_heads": 64,
    "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 25600, "vocab_size": 151936})",
       32.8, 0},
      {R"({"model_type": "qwen3_moe", "num_hidden_layers": 94, "hidden_size": 4096, "num_attention_heads": 64,
    "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 12288, "moe_intermediate_size": 1536,
    "num_experts": 128, "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [],
    "vocab_size": 151936})",
       235.1, 22},
      {R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text", "num_hidden_layers": 48,
    "hidden_size": 5120, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
    "intermediate_size": 8192, "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 2,
    "num_local_experts": 128, "num_experts_per_tok": 1, "attention_chunk_size": 8192, "vocab_size": 202048}})",
       400.7, 0},
      {R"({"model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168,
    "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432,
    "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
    "first_k_dense_replace": 3, "moe_layer_freq": 1, "kv_lora_rank": 512, "q_lora_rank": 1536,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280})",
       671, 37},
      {R"({"model_type": "gpt_oss", "num_hidden_layers": 36, "hidden_size": 2880, "num_attention_heads": 64,
    "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 128,
    "num_experts_per_tok": 4, "experts_per_token": 4, "sliding_window": 128, "vocab_size": 201088})",
       116.83, 5.13},
      {R"({"model_type": "minimax_m2", "num_hidden_layers": 62, "hidden_size": 3072, "num_attention_heads": 48,
    "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 1536, "num_local_experts": 256,
    "num_experts_per_tok": 8, "shared_intermediate_size": 0, "vocab_size": 200064})",
       229, 10}};
  for (const Published& one : all) {
    CAPTURE(one.keys);
    const Transformer model = shape_in(one.keys);
    CHECK(parameters(model) == doctest::Approx(one.total * 1e9).epsilon(0.01));
    if (one.active > 0) CHECK(active_parameters(model) == doctest::Approx(one.active * 1e9).epsilon(0.04));
  }
}

TEST_CASE("layers without experts are counted however a config names them") {
  const double attention = 4 * 1024 * 1024, expert = 3 * 1024 * 512, dense = 3 * 1024 * 2048;
  const double embeddings = 2.0 * 32000 * 1024;
  const auto counted = [&](const Json& more, int experts, int dense_layers) {
    Json keys{{"num_experts", experts}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 512}};
    if (!more.is_null()) keys.update(more);
    const Transformer model = small_model(keys);
    CHECK(model.dense_layers == dense_layers);
    CHECK(parameters(model) == 8 * attention + (8 - dense_layers) * (experts * expert + experts * 1024) +
                                   dense_layers * dense + embeddings);
  };
  counted({}, 8, 0);
  counted({{"first_k_dense_replace", 2}}, 8, 2);
  counted({{"moe_layer_freq", {0, 0, 1, 1, 1, 1, 1, 1}}}, 8, 2);
  counted({{"moe_layer_freq", 2}}, 8, 4);
  counted({{"decoder_sparse_step", 2}, {"mlp_only_layers", {1, 0}}}, 8, 5);
  counted(
      {{"mlp_layer_types", {"dense", "sparse", "sparse", "sparse", "sparse", "sparse", "sparse", "sparse"}}},
      8, 1);
  counted({{"moe_layers", {3, 7}}}, 8, 6);
  // As ERNIE 4.5 names them; -1 is the last layer.
  counted({{"moe_layer_start_index", 2}, {"moe_layer_end_index", -1}}, 8, 2);
  counted({{"moe_layer_start_index", 1}, {"moe_layer_end_index", 5}, {"moe_layer_interval", 1}}, 8, 3);
  counted({{"moe_layer_interval", 2}}, 8, 4);
  const Json ernie{{"model_type", "ernie4_5_moe"},
                   {"moe_num_experts", 8},
                   {"moe_k", 2},
                   {"moe_num_shared_experts", 2},
                   {"moe_intermediate_size", 512}};
  CHECK(parameters(small_model(ernie)) == 8 * (attention + 10 * expert + 8 * 1024) + embeddings);
  CHECK(active_parameters(small_model(ernie)) ==
        doctest::Approx(8 * (attention + 4 * expert + 8 * 1024) + embeddings / 2));
  counted({{"intermediate_size", 512}, {"dense_intermediate_size", 2048}, {"first_k_dense_replace", 2}}, 8,
          2);
  const Json experts{{"num_experts", 8}, {"num_experts_per_tok", 2}};
  const auto refused = [&](const Json& more) {
    Json keys = experts;
    keys.update(more);
    return small_refusal(keys);
  };
  CHECK(refused({{"moe_layer_freq", {1, 1}}}).find("/moe_layer_freq: 2 entries for 8 layers") !=
        std::string::npos);
  CHECK(refused({{"mlp_only_layers", {8}}}).find("/mlp_only_layers: layer 8 of 8") != std::string::npos);
  CHECK(refused({{"experts_per_token", 3}}).find("two names of one number") != std::string::npos);
}

TEST_CASE("windows and shared caches are counted as a config states them") {
  // A token takes 2 * 8 * 128 numbers of 2 bytes in each layer that stores it.
  const double token = 4096;
  const auto cache = [&](const Json& more) { return cache_bytes(small_model(more), 32768, {}) / token; };
  const Json window{{"model_type", "gemma3_text"}, {"sliding_window", 512}};
  const auto with = [&](const Json& more) {
    Json keys = window;
    keys.update(more);
    return keys;
  };
  CHECK(cache({}) == 8 * 32768);
  CHECK(cache(window) == 1 * 32768 + 7 * 512);
  CHECK(cache(with({{"sliding_window_pattern", 4}})) == 2 * 32768 + 6 * 512);
  CHECK(cache(with({{"model_type", "exaone4"}, {"sliding_window_pattern", "LLLG"}})) == 2 * 32768 + 6 * 512);
  CHECK(small_refusal(with({{"sliding_window_pattern", "LGGL"}})).find("/sliding_window_pattern: \"LGGL\"") !=
        std::string::npos);
  CHECK(cache({{"model_type", "mistral"}, {"sliding_window", 512}}) == 8 * 512);
  CHECK(cache({{"model_type", "qwen2"}, {"sliding_window", 512}, {"max_window_layers", 3}}) ==
        3 * 32768 + 5 * 512);
  CHECK(cache({{"model_type", "qwen2"},
               {"sliding_window", 512},
               {"use_sliding_window", false},
               {"max_window_layers", 3}}) == 8 * 32768);
  CHECK(cache({{"model_type", "llama4_text"}, {"attention_chunk_size", 1024}}) == 2 * 32768 + 6 * 1024);
  CHECK(cache({{"num_kv_shared_layers", 3}}) == 5 * 32768);
  CHECK(cache(with({{"sliding_window_pattern", 4}, {"num_kv_shared_layers", 4}})) == 1 * 32768 + 3 * 512);
  CHECK(small_refusal({{"sliding_window", 512}}).find("which layers attend to this window is not stated") !=
        std::string::npos);
  CHECK(small_refusal({{"attn_type_list", {1, 1, 0, 1, 1, 1, 1, 1}}}).find("/attn_type_list: 0") !=
        std::string::npos);
  CHECK(cache({{"attn_type_list", {1, 1, 1, 1, 1, 1, 1, 1}}}) == 8 * 32768);
}

TEST_CASE("a key that nothing reads is refused, whatever its name") {
  for (const char* key : {"index_topk", "linear_num_value_heads", "mamba_num_heads", "ssm_state_size",
                          "num_global_key_value_heads", "swa_num_key_value_heads", "hybrid_override_pattern",
                          "block_configs", "v_head_dim", "compress_ratios", "enable_moe_block",
                          "hidden_size_per_layer_input", "ffn_multipliers", "n_layer_groups"}) {
    CAPTURE(key);
    CHECK(small_refusal({{key, 4}}).find(std::string("/") + key + ": 4; this key is not known") !=
          std::string::npos);
    // A key that is switched off changes nothing.
    CHECK(small_refusal({{key, 0}}).empty());
  }
  // Random letters, three parts a name: none is read by accident.
  std::minstd_rand random(7);
  for (int i = 0; i < 200; ++i) {
    std::string key;
    for (int k = 0; k < 11; ++k) key += k % 4 == 3 ? '_' : static_cast<char>('a' + random() % 26);
    CAPTURE(key);
    CHECK(small_refusal({{key, true}}).find("/" + key) != std::string::npos);
  }
  CHECK(small_refusal({{"layer_types",
                        {"mamba", "mamba", "attention", "attention", "attention", "attention", "attention",
                         "attention"}}})
            .find("/layer_types: \"mamba\"") != std::string::npos);
  CHECK(small_refusal({{"rope_theta", 1e6}, {"torch_dtype", "bfloat16"}, {"eos_token_id", {1, 2}}}).empty());
}

TEST_CASE("the longest context is that of the positions, which a scaled rotation extends") {
  CHECK(small_model({}).positions == 0);
  CHECK(small_model({{"max_position_embeddings", 4096}}).positions == 4096);
  const Json yarn{{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32768}};
  CHECK(small_model({{"max_position_embeddings", 40960}, {"rope_scaling", yarn}}).positions == 131072);
  const Json llama{{"rope_type", "llama3"}, {"factor", 8.0}, {"original_max_position_embeddings", 8192}};
  CHECK(small_model({{"max_position_embeddings", 131072}, {"rope_scaling", llama}}).positions == 131072);
  CHECK(small_model({{"max_position_embeddings", 2048}, {"rope_scaling", {{"factor", 2}}}}).positions ==
        4096);
}

TEST_CASE("keys of published configs that change nothing are harmless, and their kin that do are not") {
  const Transformer plain = small_model({});
  // Keys of Transformers' classes and of published repositories, with values that are not off.
  for (const auto& [key, value] :
       std::vector<std::pair<const char*, Json>>{{"model_max_length", 1048576},
                                                 {"input_jitter_noise", 0.01},
                                                 {"score_function", "sigmoid"},
                                                 {"moe_capacity", {64, 64, 64}},
                                                 {"moe_gate", "topk"},
                                                 {"word_embed_proj_dim", 1024},
                                                 {"use_gated_activation", true},
                                                 {"use_parallel_block", true},
                                                 {"qk_layernorm", true},
                                                 {"floor_scale", 8192},
                                                 {"attn_scale", 0.1},
                                                 {"moe_use_aux_free", true},
                                                 {"activation", "gelu"},
                                                 {"swiglu_alpha", 1.702},
                                                 {"order_of_interleaved_layers", "x"}}) {
    CAPTURE(key);
    const Transformer model = small_model({{key, value}});
    CHECK(parameters(model) == parameters(plain));
    CHECK(cache_bytes(model, 32768, {}) == cache_bytes(plain, 32768, {}));
  }
  const auto refuses = [](const Json& more, const char* said) {
    const std::string found = small_refusal(more);
    CAPTURE(found);
    CHECK(found.find(said) != std::string::npos);
  };
  refuses({{"word_embed_proj_dim", 512}}, "/word_embed_proj_dim: 512 beside /hidden_size 1024");
  refuses({{"use_gated_activation", false}}, "/use_gated_activation: false");
  refuses({{"use_embedding_sharing", true}}, "/use_embedding_sharing: true");
  refuses({{"num_aux_hidden_states", 5}}, "/num_aux_hidden_states: 5; this key is not known");
  const Json cohere{{"model_type", "cohere2"}, {"sliding_window", 512}, {"tie_word_embeddings", nullptr}};
  Json order = cohere;
  order["order_of_interleaved_layers"] = "local_attn_first";
  CHECK(cache_bytes(small_model(order), 32768, {}) == 4096.0 * (2 * 32768 + 6 * 512));
  order["order_of_interleaved_layers"] = "global_attn_first";
  refuses(order, "/order_of_interleaved_layers: \"global_attn_first\"");
  // Falcon reads num_kv_heads only in its new architecture.
  const auto falcon_heads = [](bool newer) {
    return small_model({{"model_type", "falcon"},
                        {"multi_query", true},
                        {"num_key_value_heads", nullptr},
                        {"num_kv_heads", 4},
                        {"new_decoder_architecture", newer}})
        .kv_heads;
  };
  CHECK(falcon_heads(false) == 1);
  CHECK(falcon_heads(true) == 4);
  CHECK(small_model({{"intermediate_size", nullptr}, {"ffn_hidden_size", 3000}}).feed_forward == 3000);
  CHECK(small_model({{"num_mtp_layers", 1}}).mtp_modules == 1);
  // A number may be repeated for each layer; other lists are refused.
  CHECK(small_model({{"intermediate_size", {3000, 3000, 3000}}}).feed_forward == 3000);
  refuses({{"intermediate_size", {3000, 2000}}}, "/intermediate_size: [3000,2000]; expected an integer");
}

TEST_CASE("a config within a code block is read, and an index without a config says so") {
  const std::string fenced = "```json\n" + small_config({}).dump(1) + "\n```\n";
  const double counted = parameters(small_model({}));
  CHECK(parameters(shape_in(fenced)) == counted);
  const ModelFolder folder(small_config({}).dump());
  const std::string page = folder.path() + "/model.md";
  std::ofstream(page) << fenced;
  CHECK(parameters(model_named(page, "")) == counted);
  std::filesystem::create_directories(folder.path() + "/alone");
  const std::string index = folder.path() + "/alone/model.safetensors.index.json";
  std::ofstream(index) << R"({"metadata": {"total_size": 1000}, "weight_map": {}})";
  CHECK_THROWS_WITH_AS(
      model_named(index, ""),
      doctest::Contains("config.json is missing beside it; put the model's config.json there"), UsageError);
}

TEST_CASE("the number of feed-forward matrices is known, or the model is refused") {
  CHECK(small_model({}).gated);
  CHECK_FALSE(small_model({{"model_type", "nemotron"}, {"hidden_act", "relu2"}}).gated);
  CHECK_FALSE(small_model({{"model_type", "starcoder2"}, {"hidden_act", "gelu"}}).gated);
  // A model of unknown type is counted by its keys, and a note says so.
  CHECK(small_model({{"model_type", "one_of_2027"}}).gated);
  CHECK(small_model({{"model_type", "one_of_2027"}}).notes.size() == 1);
  CHECK(small_model({}).notes.empty());
  CHECK(small_refusal({{"model_type", "one_of_2027"}, {"hidden_act", "gelu"}})
            .find("/model_type: \"one_of_2027\" is not known") != std::string::npos);
  const std::string none = small_refusal({{"model_type", "one_of_2027"}, {"hidden_act", nullptr}});
  CHECK(none.find("\"one_of_2027\" is not known, and no activation") != std::string::npos);
  CHECK(none.find("\"\"") == std::string::npos);
}

TEST_CASE("a checkpoint's numbers are those of its config") {
  const auto stored = [](const Json& how) { return small_model({{"quantization_config", how}}); };
  CHECK_FALSE(small_model({}).stored);
  const Transformer fp8 = stored({{"quant_method", "fp8"}, {"weight_block_size", {128, 128}}});
  CHECK(fp8.stored_as == "fp8");
  CHECK(fp8.arithmetic == MatrixFormat::fp8);
  // Embedding and output stay in 16 bits.
  const double embedding = 32000.0 * 1024;
  CHECK(weight_bytes(fp8, {}) == parameters(fp8) + 2 * embedding);
  CHECK(stored({{"quant_method", "awq"}, {"bits", 4}, {"group_size", 64}}).stored->experts == 0.5 + 2.0 / 64);
  CHECK(stored({{"quant_method", "gptq"}, {"bits", 8}}).stored_as == "int8");
  CHECK(stored({{"quant_method", "bitsandbytes"}, {"load_in_4bit", true}}).stored->mixers == 0.5);
  const Json groups{{"group_0", {{"weights", {{"num_bits", 8}, {"type", "float"}}}}}};
  const Transformer packed = stored({{"quant_method", "compressed-tensors"},
                                     {"config_groups", groups},
                                     {"ignore", {"lm_head"}},
                                     {"kv_cache_scheme", {{"num_bits", 8}, {"type", "float"}}}});
  CHECK(packed.stored_as == "fp8");
  CHECK(packed.stored->output == 2);
  CHECK(packed.eight_bit_cache);
  CHECK_FALSE(stored({{"quant_method", "fp8"}, {"kv_cache_scheme", nullptr}}).eight_bit_cache);
  CHECK(stored({{"quant_method", "modelopt"}, {"quant_algo", "NVFP4"}, {"kv_cache_quant_algo", "FP8"}})
            .eight_bit_cache);
  // ModelOpt writes a file of its own.
  const ModelFolder folder(small_config({}).dump());
  std::ofstream(folder.path() + "/hf_quant_config.json")
      << R"({"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}})";
  CHECK(model_from_config(folder.path()).stored_as == "fp8");
  CHECK(model_from_config(folder.path()).eight_bit_cache);
  CHECK(small_refusal({{"quantization_config", {{"quant_method", "quark9"}}}})
            .find("/quantization_config/quant_method: \"quark9\" is not known") != std::string::npos);
  CHECK(small_refusal({{"quantization_config", {{"quant_method", "gptq"}, {"bits", 3}}}})
            .find("3 bits are not known") != std::string::npos);
}

TEST_CASE("lists of modules give parts and layers their numbers") {
  // 2 of the 8 layers are dense; all others have experts and a shared block.
  const Json moe{{"model_type", "deepseek_v3"}, {"n_routed_experts", 8},        {"num_experts_per_tok", 2},
                 {"n_shared_experts", 1},       {"moe_intermediate_size", 512}, {"first_k_dense_replace", 2}};
  const auto stored = [&](const Json& how) {
    Json keys = moe;
    keys["quantization_config"] = how;
    return small_model(keys);
  };
  const Json weights{{"num_bits", 4}, {"type", "float"}, {"group_size", 16}};
  const Json group{{"weights", weights}, {"input_activations", weights}, {"targets", {"Linear"}}};
  const Json ignored = {"lm_head",
                        "model.layers.0*",
                        "model.layers.1.*",
                        "re:.*self_attn.*",
                        "model.layers.5.mlp.shared_experts*",
                        "model.layers.3.mlp.gate",
                        "vision_tower*"};
  const Transformer mixed =
      stored({{"quant_method", "modelopt"}, {"config_groups", {{"group_0", group}}}, {"ignore", ignored}});
  CHECK(mixed.stored_as == "nvfp4");
  CHECK(mixed.arithmetic == MatrixFormat::fp4);
  CHECK(mixed.stored->experts == 0.5625);
  CHECK(mixed.stored->mixers == 2);
  CHECK(mixed.stored->output == 2);
  // Dense blocks of layers 0 and 1 and the shared one of layer 5 have 16 bits.
  CHECK(mixed.stored->feed_forward == doctest::Approx((3 * 2 + 5 * 0.5625) / 8));
  CHECK(mixed.notes.empty());
  // ModelOpt lists modules with other numbers than the rest.
  Json layers = Json::object();
  for (int i = 2; i < 8; ++i)
    layers[fmt::format("model.layers.{}.mlp.experts", i)] = {{"quant_algo", "NVFP4"}, {"group_size", 16}};
  const Transformer listed = stored({{"quant_method", "fp8"},
                                     {"quant_algo", "MIXED_PRECISION"},
                                     {"quantized_layers", layers},
                                     {"ignore", {"*.attn.*"}}});
  CHECK(listed.stored->experts == 0.5625);
  CHECK(listed.stored->mixers == 1);
  CHECK(listed.stored->feed_forward == 1);
  const Transformer strange = stored({{"quant_method", "fp8"}, {"modules_to_not_convert", {"oracle"}}});
  REQUIRE(strange.notes.size() == 1);
  CHECK(strange.notes[0].find("\"oracle\"") != std::string::npos);
  // gpt-oss-20b: the index of its repository lists 13.76 GB.
  const Transformer oss = model_named("gpt-oss-20b", "");
  CHECK(weight_bytes(oss, {}) == doctest::Approx(13.76e9).epsilon(0.01));
}

TEST_CASE("Infinity and NaN, which Python writes, are read as no number") {
  std::string text = small_config({{"time", "say \\\"Infinity\\\", NaN"}}).dump();
  text.insert(1, R"("rope_theta": Infinity, "rms_norm_eps": NaN, "scaling": [-Infinity, 1], )");
  CHECK(shape_refusal(text).find("/time") != std::string::npos);
  text = small_config({{"tokenizer_class", "Infinity \\\" NaN"}}).dump();
  text.insert(1, R"("rope_theta": Infinity, "rms_norm_eps": NaN, "scaling": [-Infinity, 1], )");
  CHECK(parameters(shape_in(text)) == parameters(small_model({})));
}

TEST_CASE("an EAGLE-3 head is read as a head") {
  // The config.json of EAGLE3-LLaMA3.1-Instruct-8B, without keys that do not affect its shape.
  const std::string llama = R"("model_type": "llama", "num_hidden_layers": 1, "hidden_size": 4096,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256)";
  const Transformer head =
      shape_in("{" + llama + R"(, "architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 32000})");
  CHECK(head.is_head());
  CHECK(head.fused == 3 * 4096);
  CHECK(head.draft_vocab == 32000);
  CHECK(parameters(head) == 424673280);
  const Transformer narrow = shape_in("{" + llama +
                                      R"(, "architectures": ["Eagle3Speculator"], "draft_vocab_size": 32000,
    "target_hidden_size": 8192})");
  CHECK(narrow.fused == 3 * 8192);
  // Without the key the head drafts every token of the target.
  CHECK(shape_in("{" + llama + R"(, "architectures": ["LlamaForCausalLMEagle3"]})").draft_vocab == 128256);
  CHECK_FALSE(shape_in("{" + llama + R"(, "architectures": ["LlamaForCausalLM"]})").is_head());
  CHECK(shape_refusal("{" + llama + R"(, "draft_vocab_size": 32000})").find("/architectures") !=
        std::string::npos);
  CHECK(shape_refusal("{" + llama +
                      R"(, "architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 128257})")
            .find("/draft_vocab_size: 128257; expected 1 to 128256") != std::string::npos);
}

namespace {

/// Returns the changes to a small config that make it one of each family.
std::vector<std::pair<std::string, Json>> family_changes() {
  const Json moe{{"num_experts", 8}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 512}};
  const Json latent{{"kv_lora_rank", 64},
                    {"q_lora_rank", 32},
                    {"qk_nope_head_dim", 16},
                    {"qk_rope_head_dim", 8},
                    {"v_head_dim", 16}};
  const Json delta{{"linear_num_key_heads", 2},
                   {"linear_num_value_heads", 4},
                   {"linear_key_head_dim", 16},
                   {"linear_value_head_dim", 16},
                   {"linear_conv_kernel_dim", 4}};
  const Json kda{{"kda_layers", {1, 2, 3, 5, 6, 7}},
                 {"full_attn_layers", {4, 8}},
                 {"num_heads", 4},
                 {"head_dim", 16},
                 {"short_conv_kernel_size", 4}};
  const Json mamba{{"mamba_num_heads", 8},
                   {"mamba_head_dim", 16},
                   {"ssm_state_size", 32},
                   {"n_groups", 2},
                   {"conv_kernel", 4}};
  const Json index{{"index_n_heads", 4}, {"index_head_dim", 16}, {"index_topk", 128}};
  const Json swa{{"hybrid_layer_pattern", {0, 1, 1, 1, 0, 1, 1, 1}},
                 {"swa_num_key_value_heads", 4},
                 {"swa_num_attention_heads", 8},
                 {"swa_head_dim", 128},
                 {"swa_v_head_dim", 64},
                 {"v_head_dim", 64},
                 {"sliding_window", 128}};
  const Json v4{{"compress_ratios", {128, 128, 4, 128, 4, 128, 4, 0}},
                {"o_groups", 4},
                {"o_lora_rank", 64},
                {"q_lora_rank", 64},
                {"num_key_value_heads", 1},
                {"sliding_window", 128}};
  const auto with = [](const char* type, std::initializer_list<Json> parts) {
    Json all{{"model_type", type}};
    for (const Json& part : parts) all.update(part);
    return std::pair<std::string, Json>(type, all);
  };
  return {with("llama", {}),
          with("gpt2", {}),
          with("starcoder2", {}),
          with("mixtral", {moe}),
          with("gemma2", {{{"sliding_window", 512}}}),
          with("gemma3_text", {{{"sliding_window", 512}}}),
          with("gemma4_text", {moe,
                               {{"sliding_window", 512},
                                {"global_head_dim", 256},
                                {"num_global_key_value_heads", 2},
                                {"attention_k_eq_v", true}}}),
          with("cohere2", {{{"sliding_window", 512}}}),
          with("gpt_oss", {moe, {{"sliding_window", 512}}}),
          with("llama4_text", {moe, {{"attention_chunk_size", 512}}}),
          with("mimo_v2_flash", {moe, swa}),
          with("deepseek_v3", {moe, latent}),
          with("deepseek_v32", {moe, latent, index}),
          with("deepseek_v4", {moe, v4, index}),
          with("qwen3_next", {moe, delta}),
          with("qwen3_5_text", {delta}),
          with("kimi_linear", {moe, latent, {{"linear_attn_config", kda}}}),
          with("nemotron_h", {moe, mamba, {{"hybrid_override_pattern", "ME*-MEM*"}}})};
}

}  // namespace

TEST_CASE("in the config of every family a random key is refused, and a nested one, too") {
  std::minstd_rand random(58);
  std::set<std::string> tried;
  for (const auto& [type, changes] : family_changes()) {
    CAPTURE(type);
    tried.insert(type);
    CHECK(small_refusal(changes) == "");
    for (int i = 0; i < 20; ++i) {
      std::string key;
      for (int k = 0; k < 11; ++k) key += k % 4 == 3 ? '_' : static_cast<char>('a' + random() % 26);
      Json strange = changes;
      strange[key] = 3;
      CAPTURE(key);
      CHECK(small_refusal(strange).find("/" + key) != std::string::npos);
      for (const auto& [name, value] : changes.items()) {
        if (!value.is_object()) continue;
        Json inner = changes;
        inner[name][key] = 3;
        CHECK(small_refusal(inner).find("/" + name + "/" + key) != std::string::npos);
      }
      // A key beside the language model of a config with several kinds of input.
      const Json outer{{"text_config", small_config(changes)}, {key, 3}};
      CHECK(shape_refusal(outer.dump()).find("/" + key) != std::string::npos);
    }
  }
  // A family without a tried type would leave its keys unchecked.
  for (const ModelFamily& family : model_families()) {
    if (family.form == LayerForm::usual && family.full_every == 0) continue;
    CAPTURE(family.name);
    CHECK(std::ranges::any_of(family.types,
                              [&](std::string_view type) { return tried.contains(std::string(type)); }));
  }
}

TEST_CASE("hybrids by hand: layers, matrices and states") {
  const auto changed = [](const std::string& type) {
    for (const auto& [name, changes] : family_changes()) {
      if (name == type) return small_model(changes);
    }
    return Transformer{};
  };
  const double embeddings = 2 * 32000.0 * 1024;
  // Every fourth of the 8 layers has attention, with a gate as wide as its queries.
  const Transformer delta = changed("qwen3_5_text");
  const double attention = 5 * 1024.0 * 1024;
  // Keys 32, values 64 wide: queries, keys, values, gate, two gates for 4 heads, output, convolution.
  const double network = 1024 * (32 + 32 + 64 + 64 + 2 * 4) + 64 * 1024 + 128 * 4;
  CHECK(parameters(delta) == 2 * attention + 6 * network + 8 * 3 * 1024.0 * 2048 + embeddings);
  CHECK(cache_bytes(delta, 100, {}) == 2 * 4096 * 100);
  Machine machine;
  CHECK(state_bytes(machine, delta, 0) == 6 * (64 * 16 * 4 + 128 * 3 * 2));
  CHECK(state_bytes(machine, delta, 3) == 4 * 6 * (64 * 16 * 4 + 128 * 6 * 2));
  const Transformer two_bytes = small_model([&] {
    Json keys = family_changes()[15].second;
    keys["mamba_ssm_dtype"] = "bfloat16";
    return keys;
  }());
  CHECK(state_bytes(machine, two_bytes, 0) == 6 * (64 * 16 * 2 + 128 * 3 * 2));
  // Nemotron-H: 3 Mamba, 2 attention, 1 dense block and 2 with experts; blocks have two matrices.
  const Transformer blocks = changed("nemotron_h");
  const double mamba = 1024 * (2 * 128 + 2 * 2 * 32 + 8) + 128 * 1024 + (128 + 128) * 4;
  CHECK(parameters(blocks) == 3 * mamba + 2 * 4 * 1024.0 * 1024 + 2 * 1024.0 * 2048 +
                                  2 * (8 * 2 * 1024.0 * 512 + 8 * 1024) + embeddings);
  CHECK(cache_bytes(blocks, 100, {}) == 2 * 4096 * 100);
  // MiMo-V2: layers without window have 8 heads of keys of 128 and values of 64 numbers, those with it 4.
  const Transformer two = changed("mimo_v2_flash");
  CHECK(cache_bytes(two, 1000, {}) == 2 * (2 * 8 * 192 * 1000 + 6 * 4 * 192 * 128));
  // Gemma 4: one of 6 layers attends to all, with 2 heads of 256 numbers, whose keys are its values.
  const Transformer sizes = changed("gemma4_text");
  CHECK(cache_bytes(sizes, 1000, {}) == 2 * (2 * 2 * 256 * 1000 + 7 * 2 * 8 * 128 * 512));
  CHECK(sizes.shared_feed_forward == 2048);
  // Sparse attention stores a key of its index, and a token reads the selected entries alone.
  const Transformer sparse = changed("deepseek_v32");
  CHECK(cache_bytes(sparse, 1000, {}) == 8 * (72 + 16) * 1000 * 2);
  CHECK(sparse.mixers[0].read_entries(1000, 1) == 128);
  // Kimi: layers count from 1.
  const Transformer kimi = changed("kimi_linear");
  CHECK(kimi.mixers[0].layers == 6);
  CHECK(kimi.mixers[1].layers == 2);
}

TEST_CASE("the index beside a config.json gives the bytes of all weights, and a difference is said") {
  const double counted = 2 * parameters(small_model({}));
  const ModelFolder folder(small_config({}).dump());
  const auto with = [&](double bytes) {
    std::ofstream(folder.path() + "/model.safetensors.index.json")
        << Json{{"metadata", {{"total_size", bytes}}}, {"weight_map", Json::object()}};
    return model_from_config(folder.path());
  };
  const auto notes = [](const Transformer& model) {
    std::vector<std::string> sentences;
    append_notes({RooflineCost{Machine{}, model}, ConstantCost{1}}, sentences);
    return sentences;
  };
  CHECK(with(counted).index_bytes == counted);
  CHECK(notes(with(1.019 * counted)).empty());
  REQUIRE(notes(with(1.1 * counted)).size() == 1);
  CHECK(notes(with(1.1 * counted))[0].find("10% more than") != std::string::npos);
  CHECK(notes(with(0.5 * counted))[0].find("50% less than") != std::string::npos);
  const auto memory =
      device_memory({RooflineCost{Machine{}, with(0.5 * counted)}, ConstantCost{1}}, {1, 1}, 0.9, 1);
  CHECK(memory->target_weights == 0.5 * counted);
  CHECK(memory->counted_weights == counted);
  CHECK_THROWS_AS(with(0), UsageError);
}
