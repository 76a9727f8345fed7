// Tests caches and recurrent states against hand calculations and numbers that servers printed.
#include "analysis/cost/mixers.hpp"

#include <doctest/doctest.h>

#include "analysis/cost/device_speed.hpp"
#include "tests/analysis/cost/shapes.hpp"

using namespace speclab;

namespace {

constexpr double mebibyte = 1048576;
constexpr double gibibyte = 1024 * mebibyte;

/// Returns a model with these mixers alone; each has its number of layers.
Transformer model_with(std::vector<Mixer> mixers) {
  Transformer model{.hidden = 8, .heads = 1, .kv_heads = 1, .head_size = 8, .feed_forward = 8, .vocab = 10};
  for (const Mixer& mixer : mixers) model.layers += mixer.layers;
  model.mixers = std::move(mixers);
  return model;
}

Mixer in_layers(Mixer mixer, int layers) {
  mixer.layers = layers;
  return mixer;
}

/// Returns the linear attention of Kimi K3, by its config.json.
Transformer kimi_k3() { return model_with({in_layers(kimi_delta_attention(7168, 96, 128, 4, true), 69)}); }

}  // namespace

TEST_CASE("mixers by hand: matrices, cached numbers, states") {
  // Queries 8 x 4 x 3, keys 8 x 2 x 3, values 8 x 2 x 5, output 4 x 5 x 8.
  const Mixer grouped = grouped_attention(8, {4, 2, 3, 5}, 8);
  CHECK(grouped.parameters == 96 + 48 + 80 + 160);
  CHECK(grouped.kept == 2 * (3 + 5));
  CHECK(grouped.flops == 2 * 4 * (3 + 5));
  // Queries, keys 8 x 6, values 8 x 12, gate 8 x 12, two gates 8 x 4, output 12 x 8, convolution 24 x 4.
  const Mixer delta = delta_network(8, {2, 4, 3, 3, 4});
  CHECK(delta.channels == 2 * 6 + 12);
  CHECK(delta.parameters == 8 * 24 + 8 * 12 + 2 * 8 * 4 + 12 * 8 + 24 * 4);
  CHECK(delta.state == 4 * 3 * 3);
  // Gate and inner input 8 x 12 each, B and C 8 x 10 each, 8 x 6 steps, output 12 x 8, convolution 32 x 4.
  const Mixer mamba = mamba2(8, {6, 2, 2, 5, 4});
  CHECK(mamba.parameters == 8 * (12 + 12 + 10 + 10 + 6) + 12 * 8 + 32 * 4);
  CHECK(mamba.state == 6 * 2 * 5);
  const Mixer kimi = kimi_delta_attention(8, 2, 3, 4, false);
  CHECK(kimi.parameters == 3 * 8 * 6 + 8 * 2 + 2 * (8 * 3 + 3 * 6) + 6 * 8 + 18 * 4);
  CHECK(kimi_delta_attention(8, 2, 3, 4, true).parameters == kimi.parameters - (8 * 3 + 3 * 6) + 8 * 6);
  Mixer latent = latent_attention(8, 2, {.rank = 4, .query_rank = 3, .plain = 2, .rotary = 1, .value = 2});
  CHECK(latent.parameters == 8 * 3 + 3 * 2 * 3 + 8 * 5 + 4 * 2 * 4 + 2 * 2 * 8);
  const double without = latent.parameters;
  add_index(latent, 8, 3, {.heads = 5, .size = 7, .selected = 16});
  CHECK(latent.parameters - without == 3 * 35 + 8 * 7 + 8 * 5);
  CHECK(latent.read_entries(1000, 1) == 16);
  CHECK(latent.read_entries(1000, 3) == 48);
  CHECK(latent.read_entries(20, 3) == 20);
}

TEST_CASE("the states that ATOM keeps for Kimi K3: 57.81 MiB a slot, 28.91 GiB for 64 requests") {
  // ROCm/ATOM#1883: 8 slots on each of 8 devices, for 7 drafts.
  Machine machine = h100(8);
  const double slot = state_bytes(machine, kimi_k3(), 7) / 8 / 8;
  CHECK(slot / mebibyte == doctest::Approx(57.81).epsilon(0.0001));
  CHECK(64 * 8 * slot / gibibyte == doctest::Approx(28.91).epsilon(0.0002));
  // A server that replays drafts keeps one state.
  machine.states = 1;
  CHECK(state_bytes(machine, kimi_k3(), 7) / 8 == doctest::Approx(slot));
}

TEST_CASE("the state that llama.cpp keeps for Qwen3.6-27B: 598.50 MiB for 4 sequences") {
  // lmstudio-ai/lmstudio-bug-tracker#1862; llama.cpp keeps the convolution's inputs in 32 bits, servers
  // in 16.
  const Mixer delta = delta_network(5120, {16, 48, 128, 128, 4});
  const double inputs = delta.channels * 3 * 2;
  const double state = delta.state_size(0) - inputs;
  CHECK(4 * 48 * (state + 2 * inputs) / mebibyte == 598.5);
  // Its 16 layers of attention take 16384 MiB for 262,144 tokens.
  const Transformer attention = model_with({in_layers(grouped_attention(5120, {24, 4, 256, 256}, 5120), 16)});
  CHECK(cache_bytes(attention, 262144, {}) / mebibyte == 16384);
}

TEST_CASE("the cache of DeepSeek-V4-Pro: 9.62 GiB for a million tokens") {
  // 30 layers of ratio 4 and 31 of ratio 128, by its config.json; the size is that of its release.
  const SharedKeyAttention shared{128, 512, 1536, 16, 1024, 128};
  const SparseIndex index{64, 128, 1024};
  const Transformer model = model_with({in_layers(compressed_entries(7168, shared, 4, index), 30),
                                        in_layers(compressed_entries(7168, shared, 128, {}), 31),
                                        in_layers(shared_key_attention(7168, shared), 61)});
  CHECK(cache_bytes(model, 1048576, {}) / gibibyte == doctest::Approx(9.62).epsilon(0.001));
}

TEST_CASE("a run with states reads one and writes one after each draft, unless the server replays") {
  const Mixer delta = in_layers(delta_network(8, {2, 4, 3, 3, 4}), 3);
  const Transformer model = model_with({delta});
  const double state = 3 * delta.state_size(0);
  const auto bytes = [&](int gamma, int kept) {
    Machine machine = h100();
    machine.states = kept;
    return work(machine, model, verifying(gamma, {2, 100})).bytes;
  };
  const double weights = 2 * active_parameters(model);
  CHECK(bytes(0, 0) == weights + 2 * 2 * state);
  CHECK(bytes(5, 0) == weights + 2 * (1 + 6) * state);
  CHECK(bytes(5, 1) == weights + 2 * (1 + 1) * state);
  // A prompt leaves one state.
  CHECK(work(h100(), model, {1000, 1, 0}).bytes == weights + 2 * state);
  const CostPair costs{RooflineCost{h100(), model}, ConstantCost{0.1}};
  CHECK(device_memory(costs, {1, 4096}, 0.9, 4)->state_per_sequence == state_bytes(h100(), model, 4));
  CHECK_FALSE(device_memory({RooflineCost{h100(), llama_8b()}, ConstantCost{0.1}}, {1, 4096}, 0.9, 4)
                  ->state_per_sequence);
}

TEST_CASE("devices beyond the heads of a cache store copies") {
  // 2 heads of keys and values on 8 devices: each is stored four times.
  const Transformer model = model_with({in_layers(grouped_attention(8, {8, 2, 4, 4}, 8), 5)});
  CHECK(cache_bytes(h100(8), model, 10) == 4 * cache_bytes(h100(2), model, 10));
  CHECK(cache_bytes(h100(2), model, 10) == cache_bytes(h100(1), model, 10));
}

TEST_CASE("parts of a checkpoint have their own bytes; without them all have the same") {
  Transformer model = llama_1b();
  model.experts = 4;
  model.active_experts = 2;
  model.shared_feed_forward = 512;
  const double all = parameters(model);
  CHECK(weight_bytes(model, {1, 2}) == all);
  model.stored = StoredBytes{.experts = 0.5, .feed_forward = 1, .mixers = 1, .output = 2};
  const double experts = 16 * 4 * 3.0 * 2048 * 8192;
  const double shared = 16 * 3.0 * 2048 * 512;
  const double attention = 16 * (2 * 2048.0 * 2048 + 2 * 2048.0 * 512);
  const double rest = 16 * 2048.0 * 4 + 2048.0 * 128256;
  CHECK(experts + shared + attention + rest == all);
  CHECK(weight_bytes(model, {}) == 0.5 * experts + shared + attention + 2 * rest);
  // A run over one token reads two of four experts.
  CHECK(work(model, {1, 1, 0}, {}).bytes ==
        doctest::Approx(0.25 * experts + shared + attention + 2 * rest + 16 * 2 * 2 * 8 * 64));
}

TEST_CASE("a model of stated sizes reads its active parameters for a token, and all for many") {
  Transformer model;
  model.published = 30e9;
  model.published_active = 3e9;
  model.routing_exponent = 1;
  CHECK(active_parameters(model) == 3e9);
  CHECK(work(model, {1, 1, 0}, {}).bytes == doctest::Approx(2 * 3e9));
  // A second token finds nine tenths of its parameters untouched.
  CHECK(work(model, {2, 1, 0}, {}).bytes == doctest::Approx(2 * (3e9 + 2.7e9)));
  CHECK(work(model, {1, 1000, 0}, {}).bytes == doctest::Approx(2 * 30e9));
  CHECK(work(model, {2, 1, 0}, {}).flops == doctest::Approx(2 * 2 * 3e9));
}
