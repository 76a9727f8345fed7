#include "serving/advisor/model_families.hpp"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <nlohmann/json.hpp>

namespace speclab {

// Defaults are those of Hugging Face Transformers.
const std::vector<ModelFamily>& model_families() {
  static const std::vector<ModelFamily> all{
      {.name = "GPT-2 and its kin, whose output matrix is the embedding",
       .types = {"gpt2", "gpt_neo", "opt", "bloom", "falcon", "gpt_bigcode", "mpt"},
       .gated = false,
       .tied = true,
       .witness = "gpt2, gpt2-xl"},
      {.name = "plain feed-forward blocks",
       .types = {"gpt_neox", "gptj", "phi", "codegen", "nemotron"},
       .gated = false,
       .witness = "EleutherAI/pythia-6.9b"},
      {.name = "plain feed-forward blocks and a window",
       .types = {"starcoder2"},
       .gated = false,
       .form = LayerForm::windowed,
       .witness = "bigcode/starcoder2-7b"},
      {.name = "T5", .types = {"t5"}, .gated = {}, .tied = true, .witness = "t5-small, t5-v1.1-xxl"},
      {.name = "Llama and its kin",
       .types = {"llama",         "qwen2",         "qwen2_vl",
                 "qwen2_vl_text", "qwen2_5_vl",    "qwen2_5_vl_text",
                 "qwen3",         "qwen3_vl_text", "deepseek_v2",
                 "deepseek_v3",   "kimi_k2",       "glm",
                 "glm4",          "glm4_moe",      "minimax_m2",
                 "mimo",          "olmo",          "olmo2",
                 "olmoe",         "granite",       "granitemoe",
                 "exaone4",       "internlm2",     "stablelm",
                 "seed_oss",      "qwen2_moe",     "qwen3_moe",
                 "step3p7",       "medusa",        "qwen3_vl_moe_text",
                 "dots1",         "ernie4_5",      "ernie4_5_moe",
                 "bailing_moe",   "bailing_moe_v2"},
       .gated = true,
       .witness =
           "Llama-3.1-8B, Qwen3-8B, Qwen3-235B-A22B, DeepSeek-V3, GLM-4.5, Kimi-K2, MiniMax-M2.5, Step-3.7-Flash, ERNIE-4.5-21B-A3B, Ling-mini-2.0"},
      {.name = "Llama's kin whose output matrix is the embedding",
       .types = {"cohere", "smollm3", "gemma", "gemma3n_text"},
       .gated = true,
       .tied = true,
       .witness = "SmolLM3-3B"},
      {.name = "Mistral",
       .types = {"mistral", "mixtral", "phi3", "phimoe"},
       .gated = true,
       .form = LayerForm::windowed,
       .witness = "Mixtral-8x7B-v0.1"},
      {.name = "Gemma 2",
       .types = {"gemma2"},
       .gated = true,
       .tied = true,
       .full_every = 2,
       .witness = "gemma-2-9b"},
      {.name = "Gemma 3",
       .types = {"gemma3", "gemma3_text"},
       .gated = true,
       .tied = true,
       .full_every = 6,
       .witness = "gemma-3-27b"},
      {.name = "Gemma 4",
       .types = {"gemma4_text"},
       .gated = true,
       .tied = true,
       .full_every = 6,
       .form = LayerForm::two_sizes,
       .witness = "gemma-4-26B-A4B"},
      {.name = "Cohere 2",
       .types = {"cohere2"},
       .gated = true,
       .tied = true,
       .full_every = 4,
       .witness = "c4ai-command-r7b-12-2024"},
      {.name = "gpt-oss",
       .types = {"gpt_oss"},
       .gated = true,
       .full_every = 2,
       .witness = "gpt-oss-20b, gpt-oss-120b"},
      {.name = "Llama 4", .types = {"llama4_text"}, .gated = true, .witness = "Llama-4-Scout-17B-16E"},
      {.name = "MiMo-V2",
       .types = {"mimo_v2_flash"},
       .gated = true,
       .form = LayerForm::two_kinds,
       .witness = "MiMo-V2-Flash"},
      {.name = "DeepSeek sparse attention",
       .types = {"deepseek_v32", "glm_moe_dsa"},
       .gated = true,
       .witness = "DeepSeek-V3.2, GLM-5"},
      {.name = "DeepSeek-V4",
       .types = {"deepseek_v4"},
       .gated = true,
       .form = LayerForm::shared_key,
       .witness = "DeepSeek-V4-Flash, DeepSeek-V4-Pro"},
      {.name = "gated delta networks",
       .types = {"qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"},
       .gated = true,
       .full_every = 4,
       .form = LayerForm::gated,
       .witness = "Qwen3-Next-80B-A3B, Qwen3.5-35B-A3B, Qwen3.6-27B"},
      {.name = "Kimi delta attention",
       .types = {"kimi_linear"},
       .gated = true,
       .witness = "Kimi-Linear-48B-A3B, Kimi-K3"},
      {.name = "Mamba-2 hybrids",
       .types = {"nemotron_h"},
       .gated = false,
       .form = LayerForm::single_blocks,
       .witness = "Nemotron-H-56B, Nemotron-3-Super-120B-A12B, Nemotron-3-Ultra-550B-A55B"}};
  return all;
}

namespace {

/// Returns a name as model types and architectures have it in common: "deepseekv4" for
/// "DeepseekV4ForCausalLM".
std::string bare_name(std::string name) {
  for (const char* end : {"ForCausalLM", "ForConditionalGeneration", "LMHeadModel"})
    boost::erase_last(name, end);
  boost::erase_all(name, "_");
  return boost::to_lower_copy(name);
}

}  // namespace

const ModelFamily* family_of(const ModelKeys& outer, const ModelKeys& keys) {
  const std::string type = keys.text("model_type");
  const std::string architecture =
      bare_name(keys.has("architectures") ? keys.architecture() : outer.architecture());
  const auto has = [&](const auto& is_named) {
    const auto found = std::ranges::find_if(
        model_families(), [&](const ModelFamily& one) { return std::ranges::any_of(one.types, is_named); });
    return found == model_families().end() ? nullptr : &*found;
  };
  if (const auto* const found = has([&](std::string_view one) { return one == type; })) return found;
  return architecture.empty()
             ? nullptr
             : has([&](std::string_view one) { return bare_name(std::string(one)) == architecture; });
}

}  // namespace speclab
