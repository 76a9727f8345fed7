#include "serving/advisor/head_config.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/model_config.hpp"
#include "serving/advisor/presets.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

/// Reads a config.json after changes to it; null removes a key.
Transformer shape_of(Json config, const Json& changes = Json::object()) {
  config.merge_patch(changes);
  const auto file = std::filesystem::temp_directory_path() / "speclab_head_config_test.json";
  std::ofstream(file) << config;
  return model_from_config(file.string());
}

std::string refusal(const Json& config, const Json& changes) {
  return usage_error_of([&] { shape_of(config, changes); });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The head of Qwen3-8B, from vllm-project/speculators, tests/unit/convert/test_dflash_converter.py.
const Json dflash =
    Json::parse(R"({"architectures": ["DFlashDraftModel"], "model_type": "qwen3", "block_size": 16,
  "num_target_layers": 36, "dflash_config": {"mask_token_id": 151669, "target_layer_ids": [1, 9, 17, 25, 33]},
  "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 5,
  "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128})");

/// As MedusaConfig of FasterDecoding/Medusa writes it.
const Json medusa = Json::parse(R"({"medusa_num_heads": 5, "medusa_num_layers": 1,
  "base_model_name_or_path": "lmsys/vicuna-7b-v1.3"})");

/// From deepseek-ai/DeepSeek-V3, without keys that do not affect its shape.
const Json deepseek = Json::parse(R"({"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3",
  "num_hidden_layers": 61, "hidden_size": 7168, "num_attention_heads": 128, "num_key_value_heads": 128,
  "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
  "num_experts_per_tok": 8, "first_k_dense_replace": 3, "kv_lora_rank": 512, "q_lora_rank": 1536,
  "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "num_nextn_predict_layers": 1,
  "vocab_size": 129280, "tie_word_embeddings": false})");

}  // namespace

TEST_CASE("a DFlash head is read with its block and the states that it reads") {
  const Transformer head = shape_of(dflash);
  CHECK(head.head == HeadKind::dflash);
  CHECK(head.max_drafted == 15);
  CHECK(head.fused == 5 * 4096);
  CHECK(parameters(head) ==
        5 * (2 * 4096.0 * 4096 + 2 * 4096.0 * 1024 + 3 * 4096.0 * 12288) + 5 * 4096.0 * 4096);
  // Later heads keep the block size in dflash_config.
  const Json later = Json::parse(R"({"block_size": null, "dflash_config": {"block_size": 8}})");
  CHECK(shape_of(dflash, later).max_drafted == 7);
  const Json windowed = Json::parse(R"({"sliding_window": 2048, "layer_types": ["sliding_attention",
    "sliding_attention", "full_attention", "full_attention", "full_attention"]})");
  CHECK(shape_of(dflash, windowed).mixers[0].layers == 2);
  CHECK(method_of(head.head) == DraftMethod::dflash);
}

TEST_CASE("a DFlash head without what it drafts, or reads, is refused by key") {
  CHECK(has(refusal(dflash, {{"block_size", nullptr}}), "/block_size: missing"));
  CHECK(has(refusal(dflash, {{"block_size", 1}}), "/block_size: 1; expected 2 or more"));
  CHECK(has(refusal(dflash, {{"block_size", "16"}}), "/block_size: \"16\"; expected an integer"));
  CHECK(has(refusal(dflash, Json::parse(R"({"dflash_config": {"block_size": 0}})")),
            "/dflash_config/block_size: 0; expected 2 or more"));
  CHECK(has(refusal(dflash, Json::parse(R"({"dflash_config": {"target_layer_ids": null}})")),
            "/dflash_config/target_layer_ids: missing"));
  CHECK(has(refusal(dflash, Json::parse(R"({"dflash_config": {"target_layer_ids": []}})")),
            "/dflash_config/target_layer_ids: missing"));
  CHECK(has(refusal(dflash, {{"draft_vocab_size", 32000}}), "/draft_vocab_size"));
  CHECK(has(refusal(dflash, {{"num_hidden_layers", nullptr}}), "/num_hidden_layers: missing"));
}

TEST_CASE("Medusa heads take their size from the target where their config.json has none") {
  const Transformer heads = shape_of(medusa);
  CHECK(heads.head == HeadKind::medusa);
  CHECK(heads.max_drafted == 5);
  const Transformer fitted = fitted_to(heads, model_named("llama-2-7b", ""));
  CHECK(parameters(fitted) == 5 * (4096.0 * 4096 + 32000.0 * 4096));
  // These are vLLM's names; the head has outputs for the most frequent tokens only.
  const Json vllm =
      Json::parse(R"({"model_type": "medusa", "hidden_size": 4096, "vocab_size": 32000, "num_heads": 3,
    "num_hidden_layers": 2, "truncated_vocab_size": 8000})");
  CHECK(parameters(fitted_to(shape_of(vllm), model_named("llama-2-7b", ""))) ==
        3 * (2 * 4096.0 * 4096 + 8000.0 * 4096));
  CHECK(has(refusal(vllm, {{"num_heads", nullptr}}), "/medusa_num_heads: missing"));
  CHECK(has(refusal(medusa, {{"medusa_num_heads", 0}}), "/medusa_num_heads"));
  CHECK(has(refusal(vllm, {{"original_lm_head", true}}), "/original_lm_head: true"));
}

TEST_CASE("a head made for another target is refused with file, key and both sizes") {
  const Transformer large = model_named("llama-3.1-70b", "");
  const auto misfit = [&](const Json& config) {
    return usage_error_of([&] { fitted_to(shape_of(config), large); });
  };
  CHECK(has(misfit(dflash),
            "speclab_head_config_test.json: /hidden_size: 4096; the target llama-3.1-70b has 8192 hidden"));
  const Json wide{{"hidden_size", 4096}};
  Json sized = medusa;
  sized.merge_patch(wide);
  CHECK(has(misfit(sized), "/hidden_size: 4096"));
  Json eagle = Json::parse(R"({"architectures": ["LlamaForCausalLMEagle3"], "num_hidden_layers": 1,
    "hidden_size": 4096, "num_attention_heads": 32, "intermediate_size": 14336, "vocab_size": 128256})");
  CHECK(has(misfit(eagle), "/hidden_size: 4096"));
  eagle["target_hidden_size"] = 8192;
  CHECK(misfit(eagle).empty());
  eagle["target_hidden_size"] = 5120;
  CHECK(has(misfit(eagle), "/target_hidden_size: 5120"));
  // A DFlash head drafts with the target's output matrix.
  Transformer other = large;
  other.hidden = 4096;
  CHECK(has(usage_error_of([&] { fitted_to(shape_of(dflash), other); }), "/vocab_size: 151936"));
}

TEST_CASE("heads whose cost is not known are refused by name") {
  for (const char* name :
       {"DFlash2DraftModel", "Qwen3DSparkModel", "MiMoMTPModel", "DeepseekV3ForCausalLMNextN",
        "MLPSpeculatorPreTrainedModel", "Gemma4AssistantForCausalLM"}) {
    CAPTURE(name);
    const std::string why = refusal(dflash, {{"architectures", Json::array({name})}});
    CHECK(has(why, std::string("/architectures: \"") + name + "\" is a draft head whose cost is not known"));
  }
}

TEST_CASE("DSpark and Domino correct each token after the block of DFlash") {
  const Json markov{{"architectures", {"DSparkDraftModel"}},
                    {"block_size", 7},
                    {"dflash_config",
                     {{"projector_type", "dspark"}, {"markov_rank", 256}, {"markov_head_type", "vanilla"}}}};
  const Transformer dspark = shape_of(dflash, markov);
  const Transformer plain = shape_of(dflash);
  CHECK(dspark.head == HeadKind::dspark);
  CHECK(method_of(dspark.head) == DraftMethod::dspark);
  CHECK(dspark.max_drafted == 7);
  CHECK(parameters(dspark) - parameters(plain) == 2 * 256.0 * 151936);
  const auto bytes = [](const Transformer& head, double tokens) {
    return work(head, {tokens, 1, 0}, {}).bytes;
  };
  CHECK(bytes(dspark, 5) - bytes(plain, 5) == 5 * 2 * 256.0 * 151936);
  const Json gru{
      {"architectures", {"DominoDraftModel"}},
      {"dflash_config",
       {{"projector_type", "domino"}, {"emb_dim", 256}, {"gru_hidden_dim", 1024}, {"shift_label", true}}}};
  const Transformer domino = shape_of(dflash, gru);
  CHECK(domino.max_drafted == 16);
  // Three gates over input and state of the GRU, then a projection through 256 numbers to the vocabulary.
  CHECK(parameters(domino) - parameters(plain) ==
        3 * 1024.0 * (4096 + 1024) + 256.0 * (4096 + 1024) + 256.0 * 151936);
  Json other = gru;
  other["dflash_config"]["projector_type"] = "oracle";
  CHECK(has(refusal(dflash, other), "/dflash_config/projector_type: \"oracle\""));
  other = markov;
  other["dflash_config"]["selector_rank"] = 64;
  CHECK(has(refusal(dflash, other), "/dflash_config/selector_rank: 64; this key is not known"));
}

TEST_CASE("heads in the form of speculators are those of the same sizes") {
  // The class writes all its fields, those of other projectors too.
  const Json form = Json::parse(R"({"architectures": ["DFlashSpeculator"], "model_type": null,
    "speculators_model_type": "dflash", "draft_vocab_size": 151936, "projector_type": "dflash",
    "emb_dim": 256, "gru_hidden_dim": 1024, "pure_draft_prefix_len": 1, "lambda_base_start": 1.0,
    "dflash_config": null, "aux_hidden_state_layer_ids": [1, 9, 17, 25, 33]})");
  Json config = dflash;
  config.merge_patch(form);
  Json layer = Json::object();
  for (const char* key : {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
                          "num_key_value_heads", "head_dim", "vocab_size"}) {
    layer[key] = config[key];
    config.erase(key);
  }
  layer["model_type"] = "qwen3";
  config["transformer_layer_config"] = layer;
  const Transformer head = shape_of(config);
  CHECK(head.head == HeadKind::dflash);
  CHECK(head.max_drafted == 15);
  CHECK(parameters(head) == parameters(shape_of(dflash)));
  const Json markov{{"speculators_model_type", "dspark"}, {"architectures", {"DSparkSpeculator"}}};
  const Transformer dspark = shape_of(config, markov);
  CHECK(dspark.max_drafted == 16);
  CHECK(parameters(dspark) - parameters(head) == 2 * 256.0 * 151936);
  Json other = markov;
  other["sample_from_anchor"] = false;
  other["markov_rank"] = 64;
  CHECK(shape_of(config, other).max_drafted == 15);
  CHECK(parameters(shape_of(config, other)) - parameters(head) == 2 * 64.0 * 151936);
  other["enable_correction_head"] = true;
  CHECK(has(refusal(config, other), "/enable_correction_head: true; this key is not known"));
  CHECK(has(refusal(config, {{"aux_hidden_state_layer_ids", nullptr}}), "/target_layer_ids: missing"));
}

TEST_CASE("an EAGLE-3 head that reads other than three states is refused by key") {
  const Json eagle = Json::parse(R"({"architectures": ["LlamaForCausalLMEagle3"], "num_hidden_layers": 1,
    "hidden_size": 64, "num_attention_heads": 2, "intermediate_size": 128, "vocab_size": 1000})");
  CHECK(refusal(eagle, {{"num_aux_hidden_states", 3}}).empty());
  CHECK(has(refusal(eagle, {{"num_aux_hidden_states", 5}}), "/num_aux_hidden_states: 5 states"));
  const Json nested{{"eagle_config", {{"eagle_aux_hidden_state_layer_ids", {1, 5, 9, 13}}}}};
  CHECK(has(refusal(eagle, nested), "/eagle_config/eagle_aux_hidden_state_layer_ids: 4 states"));
  CHECK(refusal(eagle, {{"eagle_aux_hidden_state_layer_ids", {1, 5, 9}}}).empty());
}

TEST_CASE("EAGLE and P-EAGLE by hand, and the bound of a reduced vocabulary") {
  const Json layer = Json::parse(R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "num_hidden_layers": 1, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 32,
    "intermediate_size": 11008, "vocab_size": 32000})");
  // The layer of Llama-2-7b, and a matrix from 2 x 4096 to 4096; embedding and output are the target's.
  const double parts = 4 * 4096.0 * 4096 + 3 * 4096.0 * 11008 + 2 * 4096.0 * 4096;
  CHECK(parameters(eagle_head(shape_of(layer))) == parts);
  const Transformer named = shape_of(layer, {{"architectures", {"LlamaForCausalLMEagle"}}});
  CHECK(named.head == HeadKind::eagle);
  CHECK(parameters(named) == parts);
  CHECK(active_parameters(named) == parts + 32000.0 * 4096);
  CHECK(method_of(named.head) == DraftMethod::eagle);
  // Four layers, the first over embedding and state; one run drafts all.
  const Transformer parallel = shape_of(
      layer, {{"architectures", {"PEagleDraftModel"}}, {"num_hidden_layers", 4}, {"draft_vocab_size", 8000}});
  CHECK(parallel.drafts_in_one_run());
  const double one = 4 * 4096.0 * 4096 + 3 * 4096.0 * 11008;
  CHECK(parameters(parallel) == 4 * one + 3 * 4096.0 * 4096 + 3 * 4096.0 * 4096 + 8000.0 * 4096);
  CHECK(has(refusal(layer, {{"architectures", {"LlamaForCausalLMEagle3"}}, {"num_hidden_layers", 2}}),
            "/num_hidden_layers: 2; an EAGLE-3 head has 1"));
  const Transformer fitted = fitted_to(parallel, model_named("llama-2-7b", ""));
  CHECK(has(fitted.notes.back(), "drafts from 8000 of 32000 tokens: α is at most the probability p(S)"));
}

TEST_CASE("a target's config.json says which modules for multi-token prediction it has") {
  const Transformer target = shape_of(deepseek);
  CHECK_FALSE(target.is_head());
  CHECK(target.mtp_modules == 1);
  CHECK(parameters(target) == doctest::Approx(671e9).epsilon(0.001));
  CHECK(parameters(mtp_drafter(target)) == doctest::Approx(11.5e9).epsilon(0.01));
  CHECK(cache_bytes(target, 1, {}) == 70272);
  // Qwen3.5 has another key; a third model has none.
  const Json renamed = Json::parse(R"({"num_nextn_predict_layers": null, "mtp_num_hidden_layers": 2})");
  CHECK(shape_of(deepseek, renamed).mtp_modules == 2);
  CHECK(shape_of(deepseek, {{"num_nextn_predict_layers", nullptr}}).mtp_modules == 0);
  CHECK(has(refusal(deepseek, {{"qk_rope_head_dim", nullptr}}), "/qk_rope_head_dim: missing"));
  CHECK(has(refusal(deepseek, {{"first_k_dense_replace", 62}}), "/first_k_dense_replace: 62 of 61 layers"));
}
