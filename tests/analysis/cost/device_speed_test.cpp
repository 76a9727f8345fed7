#include "analysis/cost/device_speed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/analysis/cost/shapes.hpp"

using namespace speclab;

namespace {

CostPair pair_on(int devices) {
  return {RooflineCost{h100(devices), llama_70b()}, RooflineCost{h100(devices), llama_1b()}};
}

}  // namespace

TEST_CASE("memory is that of weights and caches, counted apart") {
  const Operation at{4, 2048};
  const DeviceMemory memory = device_memory(pair_on(4), at, 0.9, 5).value();
  const Transformer target = llama_70b();
  const Transformer draft = llama_1b();
  CHECK(memory.weights() == doctest::Approx(2 * (parameters(target) + parameters(draft))));
  // The factors are layers, keys and values, heads, size of a head, two bytes, tokens.
  CHECK(memory.cache_per_sequence == doctest::Approx((80.0 * 2 * 8 * 128 + 16.0 * 2 * 8 * 64) * 2 * 2048));
  CHECK(memory.usable == doctest::Approx(0.9 * 4 * 80e9));
  const double largest = memory.largest_batch.value();
  CHECK(memory.weights() + largest * memory.cache_per_sequence <= memory.usable);
  CHECK(memory.weights() + (largest + 1) * memory.cache_per_sequence > memory.usable);
  CHECK(memory.holds(largest));
  CHECK_FALSE(memory.holds(largest + 1));
  CHECK_FALSE(device_memory({ConstantCost{1}, ConstantCost{0.1}}, at, 0.9, 5));
}

TEST_CASE("the devices that hold a batch hold it, and fewer that divide the heads do not") {
  for (const double batch : {1.0, 50.0, 391.0, 1000.0}) {
    const Operation at{batch, 1024};
    const int needed = devices_that_hold(pair_on(1), at, 0.9, 5).value();
    // The answer does not depend on the number of devices asked about.
    CHECK(devices_that_hold(pair_on(4), at, 0.9, 5) == needed);
    CHECK(device_memory(pair_on(needed), at, 0.9, 5)->holds(batch));
    // Engines give each device the same number of the 64 heads.
    CHECK(64 % needed == 0);
    CHECK_FALSE(device_memory(pair_on(needed / 2), at, 0.9, 5)->holds(batch));
  }
  // A ninth device stores a copy of one of 8 heads, so that more of them do not hold more sequences.
  CHECK_FALSE(devices_that_hold(pair_on(1), {5000, 1024}, 0.9, 5));
  const DeviceMemory one = device_memory(pair_on(1), {1, 1024}, 0.9, 5).value();
  CHECK_FALSE(one.weights_fit());
  CHECK_FALSE(one.holds(1));
}

TEST_CASE("tokens a second are those of the runs' times") {
  const CostPair costs = pair_on(4);
  const Operation at{8, 1024};
  const DeviceFindings found = device_speed(costs, at, 0.9, 5, 3.2).value();
  CHECK(found.plain_tokens_per_second == doctest::Approx(8 / (found.plain_ms / 1000)));
  CHECK(found.speculative_tokens_per_second ==
        doctest::Approx(8 * 3.2 / ((found.verify_ms + 5 * found.draft_ms) / 1000)));
  CHECK_FALSE(device_speed({ConstantCost{1}, ConstantCost{1}}, at, 0.9, 5, 3.2));
}

TEST_CASE("an EAGLE-3 head has the weights of its checkpoint") {
  // The head is that of Llama 3.1 8B, counted matrix by matrix, without the embedding, which is the target's.
  Transformer head{.layers = 1,
                   .hidden = 4096,
                   .heads = 32,
                   .kv_heads = 8,
                   .head_size = 128,
                   .feed_forward = 14336,
                   .vocab = 128256};
  const double as_model = active_parameters(head);
  head.head = HeadKind::eagle3;
  head.fused = 3 * 4096;
  head.draft_vocab = 32000;
  const double attention = 8192.0 * 4096 + 2 * 8192.0 * 1024 + 4096.0 * 4096;
  const double rest = 3 * 4096.0 * 14336 + 4096.0 * 32000 + 3 * 4096.0 * 4096;
  CHECK(parameters(head) == attention + rest);
  CHECK(active_parameters(head) == attention + rest);
  // Read as a Llama of one layer it would be taken for a slower model.
  CHECK(as_model > 1.7 * active_parameters(head));
}
