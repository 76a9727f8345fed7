#include "serving/advisor/model_config.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/presets.hpp"

using namespace speclab;

namespace {

/// A folder with a config.json, gone when the test is over.
class ModelFolder {
 public:
  explicit ModelFolder(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / "speclab_model_config_test") {
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
  // Shapes as the repositories of these models publish them; parameters as presets count them.
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
  CHECK(nested.windowed_layers == 3);
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
  CHECK(shape_refusal(R"({"index_topk": 2048})")
            .find("/index_topk: the roofline does not know sparse attention") != std::string::npos);
  CHECK(shape_refusal(R"({"linear_num_value_heads": 32})").find("linear attention") != std::string::npos);
  CHECK(shape_refusal("[]").find("expected an object") != std::string::npos);
  const auto unknown = [](const char* name) {
    try {
      model_named(name, "/target");
    } catch (const ConfigError& error) {
      return error.sentence();
    }
    return std::string();
  };
  CHECK(unknown("qwen3-32b")
            .starts_with(
                "/target: unknown model \"qwen3-32b\" (or give the path of a config.json); did you mean"));
  CHECK(unknown("qwen3-32b").find("t5-small") == std::string::npos);
  CHECK(model_named("Llama-3.1-8B", "--target").name == "llama-3.1-8b");
  CHECK(device_named("H100-SXM", "--device").name == "h100-sxm");
  CHECK(is_model_config("some/config.json"));
  CHECK_FALSE(is_model_config("llama-3.1-8b"));
}

TEST_CASE("an EAGLE-3 head is read as a head") {
  // The config.json of EAGLE3-LLaMA3.1-Instruct-8B, without what says nothing of its shape.
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
