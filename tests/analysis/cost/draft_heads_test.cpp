// Tests the roofline of draft heads and latent attention: against hand calculations, published numbers, and
// limits.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "analysis/cost/device_speed.hpp"
#include "analysis/cost/speedup_curve.hpp"
#include "tests/analysis/cost/shapes.hpp"

using namespace speclab;

namespace {

/// Returns a head small enough to count by hand.
Transformer tiny(HeadKind kind) {
  Transformer head{.hidden = 4, .vocab = 10};
  head.head = kind;
  head.draft_vocab = 10;
  if (kind == HeadKind::medusa) {
    head.layers = 2;
    head.max_drafted = 5;
    return head;
  }
  head.layers = 2;
  head.heads = 2;
  head.kv_heads = 1;
  head.head_size = 2;
  head.feed_forward = 8;
  head.fused = 3 * 4;
  head.max_drafted = 7;
  return head;
}

/// Returns the DFlash head of Qwen3-8B, by its config.json (vllm-project/speculators,
/// tests/unit/convert/test_dflash_converter.py).
Transformer qwen_dflash() {
  Transformer head{.layers = 5,
                   .hidden = 4096,
                   .heads = 32,
                   .kv_heads = 8,
                   .head_size = 128,
                   .feed_forward = 12288,
                   .vocab = 151936};
  head.head = HeadKind::dflash;
  head.fused = 5 * 4096;
  head.draft_vocab = head.vocab;
  head.max_drafted = 15;
  return head;
}

Transformer vicuna_medusa() {
  Transformer heads{.layers = 1, .hidden = 4096, .vocab = 32000};
  heads.head = HeadKind::medusa;
  heads.draft_vocab = 32000;
  heads.max_drafted = 5;
  return heads;
}

/// Returns DeepSeek-V3 by the config.json of deepseek-ai/DeepSeek-V3.
Transformer deepseek_v3() {
  Transformer model{.name = "DeepSeek-V3",
                    .layers = 61,
                    .hidden = 7168,
                    .heads = 128,
                    .kv_heads = 128,
                    .head_size = 56,
                    .feed_forward = 2048,
                    .vocab = 129280,
                    .experts = 256,
                    .active_experts = 8};
  model.shared_feed_forward = 2048;
  model.dense_layers = 3;
  model.dense_feed_forward = 18432;
  model.mixers = {latent_attention(
      7168, 128, {.rank = 512, .query_rank = 1536, .plain = 128, .rotary = 64, .value = 128})};
  model.mixers[0].layers = 61;
  model.mtp_modules = 1;
  return model;
}

/// Returns GLM-4.5 by the config.json of zai-org/GLM-4.5.
Transformer glm_45() {
  Transformer model{.layers = 92,
                    .hidden = 5120,
                    .heads = 96,
                    .kv_heads = 8,
                    .head_size = 128,
                    .feed_forward = 1536,
                    .vocab = 151552,
                    .experts = 160,
                    .active_experts = 8};
  model.shared_feed_forward = 1536;
  model.dense_layers = 3;
  model.dense_feed_forward = 12288;
  model.mtp_modules = 1;
  return model;
}

CostPair on(const Machine& machine, const Transformer& target, const Transformer& head) {
  return {RooflineCost{machine, target}, RooflineCost{machine, head}};
}

}  // namespace

TEST_CASE("Medusa heads, by hand: a run of gamma tokens has the weights of gamma heads, and no cache") {
  const Transformer heads = tiny(HeadKind::medusa);
  // A head has two residual matrices of 4 x 4, and 10 outputs.
  CHECK(parameters(heads) == 5 * (2 * 16 + 40));
  CHECK(active_parameters(heads) == 72);
  const RunWork three = work(heads, {3, 2, 1000}, {});
  CHECK(three.bytes == 3 * 72 * 2);
  CHECK(three.flops == 2 * 2 * 3 * 72);
  CHECK(cache_bytes(heads, 1000, {}) == 0);
  // Medusa-1 of Vicuna-7B has a matrix of 4096 x 4096 and 32000 outputs per head.
  CHECK(parameters(vicuna_medusa()) == 5 * 147849216.0);
  const RunTime time = run_time(h100(8), vicuna_medusa(), {5, 1, 1024});
  CHECK(time.overhead == doctest::Approx(100e-6 + 5 * 5e-6));
  CHECK(time.communication == 0);
  CHECK(reading_time(h100(1), vicuna_medusa(), {1000, 4, 0}).total() == 0);
}

TEST_CASE("a DFlash block, by hand") {
  const Transformer head = tiny(HeadKind::dflash);
  // A layer has 32 weights of queries and outputs, 16 of keys and values, 96 of the feed-forward block; `fc`
  // has 12 x 4.
  CHECK(parameters(head) == 2 * 144 + 48);
  const RunWork three = work(head, {3, 2, 5}, {});
  // Layers run over four positions of two sequences; `fc`, keys and values also run over four verified
  // tokens; there are three outputs.
  CHECK(three.flops == 2 * (4 * (2 * (288 + 48 + 32) + 4 * 4 * 2 * 5) + 3 * 2 * 40));
  // The cache has 2 numbers each for keys and values per token, in two layers; four verified tokens and the
  // block's four are written.
  CHECK(three.bytes == 2 * (288 + 48 + 40) + 2 * (16 * 5 + 16 * 8));
  // The draft reads six tokens of two prompts.
  Machine bare = h100(1);
  bare.run_overhead = bare.layer_overhead = 0;
  const RunTime reading = reading_time(bare, head, {6, 2, 0});
  CHECK(reading.memory ==
        doctest::Approx((2 * (48 + 32) + 12 * 16) / (bare.device.bandwidth * bare.bandwidth_efficiency)));
}

TEST_CASE("a DFlash checkpoint has the counted matrices") {
  // tests/fixtures/dflash2-safetensors-header.json of z-lab/dflash lists the tensors of a head that also has
  // a selector and convolutions. The bytes are those of all tensors less those of the selector, the
  // convolutions and the norms.
  Transformer head = qwen_dflash();
  head.hidden = 6656;
  head.feed_forward = 19968;
  head.vocab = head.draft_vocab = 202048;
  head.fused = 5 * 6656;
  const double selector = 210305024;
  const double convolutions = 5 * 2 * (22151168.0 + 53248);
  const double norms = 5 * (2 * 13312.0 + 2 * 256) + 2 * 13312;
  CHECK(2 * parameters(head) == 5544319488.0 - selector - convolutions - norms);
  // It is published as a model of 1B parameters, at huggingface.co/z-lab/Qwen3-8B-DFlash-b16.
  CHECK(parameters(qwen_dflash()) == doctest::Approx(1.05e9).epsilon(0.005));
}

TEST_CASE("DeepSeek-V3 and GLM-4.5 have the parameters that were published") {
  // README_WEIGHTS.md of deepseek-ai/DeepSeek-V3: 671B, of them 36.7B active; the module has 11.5B besides
  // the embedding and outputs that it shares.
  const Transformer deepseek = deepseek_v3();
  CHECK(parameters(deepseek) == doctest::Approx(671e9).epsilon(0.001));
  CHECK(active_parameters(deepseek) == doctest::Approx(36.7e9).epsilon(0.005));
  const Transformer module = mtp_drafter(deepseek);
  CHECK(parameters(module) == doctest::Approx(11.5e9).epsilon(0.01));
  const double shared = 2 * 129280.0 * 7168;
  CHECK(parameters(module) + shared == doctest::Approx(14e9).epsilon(0.05));
  // Zhao et al. 2025 ("Insights into DeepSeek-V3", table 1): the cache takes 70.272 KB per token.
  CHECK(cache_bytes(deepseek, 1, {}) == 70272);
  // README.md of zai-org/GLM-4.5: 355B, of them 32B active, with the module.
  const Transformer glm = glm_45();
  CHECK(parameters(glm) + parameters(mtp_drafter(glm)) == doctest::Approx(355e9).epsilon(0.01));
  CHECK(active_parameters(glm) == doctest::Approx(32e9).epsilon(0.03));
}

TEST_CASE("an MTP module is stored without what it shares, and reads it in every run") {
  const Transformer target = deepseek_v3();
  const Transformer module = mtp_drafter(target);
  const double matrix = 2 * 7168.0 * 7168;
  const double attention =
      7168.0 * 1536 + 1536.0 * 128 * 192 + 7168.0 * 576 + 512.0 * 128 * 256 + 128.0 * 128 * 7168;
  const double expert = 3 * 7168.0 * 2048;
  const double router = 7168.0 * 256;
  CHECK(parameters(module) == matrix + attention + 257 * expert + router);
  CHECK(active_parameters(module) == matrix + attention + 9 * expert + router + 129280.0 * 7168);
  // One token of one sequence touches only the experts that it uses.
  CHECK(work(module, {1, 1, 1000}, {}).bytes ==
        doctest::Approx(2 * active_parameters(module) + 2 * 576 * 1001.0));
  // Each head computes scores over 576 numbers of each attended token, and a sum of 512.
  CHECK(work(module, {1, 1, 1000}, {}).flops ==
        doctest::Approx(2 * active_parameters(module) + 1000 * 128 * 2 * (576.0 + 512)));
  const Machine machine = h100(16);
  const auto memory = device_memory(on(machine, target, module), {1, 4096}, 0.9, 5).value();
  CHECK(*memory.draft_weights == 2 * parameters(module));
  // Each device stores latent caches whole.
  CHECK(memory.cache_per_sequence == doctest::Approx(16 * 2.0 * 576 * 62 * 4096));
  Transformer three = target;
  three.mtp_modules = 3;
  CHECK(parameters(mtp_drafter(three)) == 3 * parameters(module));
  CHECK(cache_bytes(mtp_drafter(three), 10, {}) == 3 * cache_bytes(module, 10, {}));
  CHECK(work(mtp_drafter(three), {1, 1, 1000}, {}).bytes == work(module, {1, 1, 1000}, {}).bytes);
}

TEST_CASE("tensor parallelism splits caches by heads, and latent caches not at all") {
  const auto traffic = [](const Transformer& model, int devices) {
    return work(h100(devices), model, {1, 8, 4096}).bytes;
  };
  CHECK(traffic(llama_8b(), 8) == traffic(llama_8b(), 1));
  const double cache = cache_bytes(deepseek_v3(), 4097, {}) * 8;
  CHECK(traffic(deepseek_v3(), 8) - traffic(deepseek_v3(), 1) == doctest::Approx(7 * cache));
}

TEST_CASE("one run that drafts all is never slower than a run a token, and the same for one token") {
  for (const Transformer& head :
       {vicuna_medusa(), qwen_dflash(), tiny(HeadKind::medusa), tiny(HeadKind::dflash)}) {
    for (const int devices : {1, 4}) {
      const CostPair costs = on(h100(devices), llama_8b(), head);
      REQUIRE(draft_runs(costs) == DraftRuns::a_round);
      for (const double batch : {1.0, 32.0, 512.0}) {
        const Operation at{batch, 2048};
        const double one = drafting_ms(costs, 1, at);
        CHECK(one == run_ms(costs.draft, {1, batch, 2048}));
        double before = 0;
        for (int gamma = 1; gamma <= head.max_drafted; ++gamma) {
          const double ms = drafting_ms(costs, gamma, at);
          CHECK(ms <= gamma * one * (1 + 1e-12));
          CHECK(ms >= before);
          before = ms;
        }
        CHECK(drafting_ms(costs, 0, at) == 0);
      }
    }
  }
}

TEST_CASE("a drafter of one run a round costs c a round, and gains with every token") {
  const CostPair a_token{ConstantCost{1}, ConstantCost{0.2}};
  const CostPair a_round{ConstantCost{1}, ConstantCost{0.2}, DraftRuns::a_round};
  const std::vector<double> tokens = iid_tokens(0.8, 20);
  const std::vector<double> by_token = speedups(tokens, round_costs(a_token, 20, {}));
  const std::vector<double> by_round = speedups(tokens, round_costs(a_round, 20, {}));
  CHECK(by_round[0] == 1);
  CHECK(by_round[1] == doctest::Approx(by_token[1]));
  for (std::size_t gamma = 2; gamma < tokens.size(); ++gamma) {
    CHECK(by_round[gamma] == doctest::Approx(tokens[gamma] / 1.2));
    CHECK(by_round[gamma] > by_token[gamma]);
  }
  const SpeedupCurve curve = iid_curve({0.8, 0.8, 0.8}, round_costs(a_round, 40, {}));
  const GammaChoice choice = best_of(curve);
  CHECK(curve.estimate[static_cast<std::size_t>(choice.gamma)] >= 0.99 * 5 / 1.2);
  CHECK(curve.estimate[static_cast<std::size_t>(choice.gamma) - 1] < 0.99 * 5 / 1.2);
  // An oracle that knows that nothing will be accepted does not draft: with many gammas it has 1 / ((1 -
  // alpha)(1 + c alpha)).
  const SpeedupBounds bounds = speedup_bounds(curve);
  CHECK(bounds.drafting_paid == doctest::Approx(5 / 1.16).epsilon(0.001));
  CHECK(bounds.guaranteed.value() == doctest::Approx(1.8 / 1.2));
  CHECK(best_of(iid_curve({0.1, 0.1, 0.1}, round_costs(a_round, 40, {}))).gamma == 0);
  CHECK(best_of(iid_curve({1, 1, 1}, round_costs(a_round, 40, {}))).gamma == 40);
}

TEST_CASE("what a token costs counts the run that drafts once") {
  const CostPair costs = on(h100(1), llama_8b(), qwen_dflash());
  const Operation at{4, 1024};
  const DeviceFindings found = device_speed(costs, at, 0.9, 7, 3.5).value();
  CHECK(found.draft_ms == doctest::Approx(drafting_ms(costs, 7, at)));
  CHECK(found.speculative_tokens_per_second ==
        doctest::Approx(1000 * 4 * 3.5 / (found.verify_ms + found.draft_ms)));
}
