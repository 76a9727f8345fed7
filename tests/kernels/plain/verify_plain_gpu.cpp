// Compares the plain kernel with the reference, bit for bit. Ends with status 77 (skipped) if there is no
// device.
#include <cstdio>
#include <vector>

#include "kernels/gpu/device.hpp"
#include "kernels/plain/probability_batch.hpp"
#include "kernels/plain/verify_plain.hpp"
#include "tests/kernels/plain/probability_batches.hpp"

namespace {

using namespace speclab;

/// Counts the requests whose verdicts differ.
int differences(PlainRule rule, std::int64_t requests, std::int32_t gamma, std::int32_t vocab) {
  const Batch batch = random_batch(requests, gamma, vocab, 5);
  const std::vector<Verdict> expected = verify_reference(batch.view, rule);
  const std::vector<Verdict> actual = verify_plain(batch.view, rule);
  int count = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool same = expected[i].accepted == actual[i].accepted &&
                      expected[i].examined == actual[i].examined && expected[i].next == actual[i].next;
    count += same ? 0 : 1;
  }
  std::printf("%s, requests %lld, gamma %d, vocab %d: %d differ\n",
              rule == PlainRule::block ? "block" : "token", static_cast<long long>(requests), gamma, vocab,
              count);
  return count;
}

}  // namespace

int main() {
  constexpr int skipped = 77;
  if (!why_no_device().empty()) {
    std::printf("skipped: kernels/verify_plain_gpu: %s\n", why_no_device().c_str());
    return skipped;
  }
  int wrong = 0;
  for (const PlainRule rule : {PlainRule::token, PlainRule::block}) {
    for (const int gamma : {0, 1, 4, 16}) {
      for (const int vocab : {1, 7, 32, 1000, 32001}) {
        wrong += differences(rule, vocab > 10000 ? 8 : 200, gamma, vocab);
      }
    }
  }
  return wrong == 0 ? 0 : 1;
}
