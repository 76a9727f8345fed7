// Tests how single precision changes the output distribution, at the vocabularies of real models. A probe
// computes the distribution of a token that fused verification emits, with every rounding.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/simt/emulator.hpp"
#include "kernels/verify/fused.hpp"
#include "kernels/verify/fused_layout.hpp"
#include "kernels/verify/implementation.hpp"
#include "kernels/verify/reference.hpp"
#include "tests/kernels/verify/logit_batch.hpp"

using namespace speclab;

namespace {

struct ProbeArgs {
  VerifyBatch batch;
  std::int64_t request;
  std::int32_t position;
  std::int32_t tiles;
  PartialSum* parts;         ///< [2, tiles]
  double* accepted;          ///< [vocab] probability that an id's acceptance draw succeeds
  float* residual;           ///< [tiles * tile_size]
  double* tile_weight_sums;  ///< [tiles]
};

/// A kernel of one block that treats one row pair as the fused kernels do, and records the numbers.
template <class T>
struct Probe : simt::KernelOf<ProbeArgs, tile_threads, 1> {
  static constexpr const char* name = "probe";

  struct Shared {
    PartialSumScratch partial;
    WeightScratch<T> scratch[2];
    PositionDecision decided;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    auto& shared = simt::shared<Shared>();
    const int thread = simt::thread_index();
    for (std::int32_t tile = 0; tile < args.tiles; ++tile) {
      for (const bool of_target : {true, false}) {
        if (!of_target && args.batch.certain_drafts()) break;
        const LogitRow<T> row = logit_row<T>(args.batch, of_target, args.request, args.position);
        const PartialSum partial = tile_part(whole_tile(row, tile), row.scale, shared.partial);
        if (thread == 0) args.parts[(of_target ? 0 : args.tiles) + tile] = partial;
        simt::sync();
      }
    }
    if (thread < simt::warp_size) {
      const auto sum_of = [&](bool of_target) {
        if (!of_target && args.batch.certain_drafts()) return LogSum{0, no_token, 0};
        const PartialSum* const parts = args.parts + (of_target ? 0 : args.tiles);
        return sum_of_row(args.batch, args.request, of_target, args.position, args.tiles,
                          [parts](std::int32_t t) { return parts[t]; });
      };
      const PositionDecision decided{sum_of(true), sum_of(false), 0, 0, false, 0};
      if (thread == 0) shared.decided = decided;
    }
    simt::sync();
    for (Token id = thread; id < args.batch.vocab; id += threads) {
      const auto side = [&](bool of_target, const LogSum& sum) {
        TokenLogit of_token{};
        if (has_logit(args.batch, of_target, id)) {
          of_token = token_logit<T>(args.batch, of_target, args.request, args.position, id);
        }
        return position_side(args.batch, of_target, id, of_token, sum);
      };
      const PositionDecision decided = decide_position(args.batch, id, side(true, shared.decided.target),
                                                       side(false, shared.decided.draft), 0);
      const double log_acceptance = decided.log_ratio - log_lenience_of(args.batch.rule);
      args.accepted[id] = log_acceptance >= 0 ? 1 : exp2(log_acceptance);
    }
    const NextDistribution distribution =
        fused::distribution_of_rejection(args.batch, args.request, args.position, shared.decided);
    const auto rows = row_pair<T>(args.batch, args.request, distribution);
    weigh_tiles(rows, distribution, 0, 1, args.tiles, shared.scratch,
                [&](std::int32_t tile, const TileWeightSum& sum, const LaneCells<T>&) {
                  if (thread == 0) args.tile_weight_sums[tile] = sum.sum;
                });
    const WeightsOf<LogitRow<T>> weights(rows, distribution);
    using Shape = TileShape<T>;
    for (std::int32_t tile = 0; tile < args.tiles; ++tile) {
      for (int step = 0; step < Shape::steps; ++step) {
        auto mine = weights.begin(tile, step);
        float weight[Shape::width];
        weights.of_step(tile, step, 0, mine, weight);
        for (int k = 0; k < Shape::width; ++k)
          args.residual[Shape::first(tile, step, thread) + k] = weight[k];
      }
    }
  }
};

/// Returns P(token at `position` = id) for each id, given that every token before it was accepted: drafted
/// tokens come from the draft's distribution in double, and acceptance draws and replacements have the
/// probabilities that the kernel's own numbers give them. Uniforms count as exact. The batch is in host
/// memory, the rule is token or lenient, and position < gamma. NaN if a row is invalid. The drafted ids do
/// not matter, except for certain drafts.
std::vector<double> fused_token_distribution(const VerifyBatch& batch, std::int64_t request,
                                             std::int32_t position) {
  const std::int32_t tiles = tiles_of(batch.vocab);
  const auto vocab = static_cast<std::size_t>(batch.vocab);
  const auto tile_count = static_cast<std::size_t>(tiles);
  std::vector<PartialSum> parts(2 * tile_count);
  std::vector<double> accepted(vocab);
  std::vector<float> residual(tile_count * tile_size);
  std::vector<double> weight_sums(tile_count);
  const ProbeArgs args{batch,        request,         position,        tiles,
                       parts.data(), accepted.data(), residual.data(), weight_sums.data()};
  with_logit_type(batch.target.dtype, [&](auto logit) {
    using T = decltype(logit);
    simt::EmulatedExecutor().run<Probe<T>>(simt::launch_of<Probe<T>>(1), args);
  });

  std::vector<double> draft(vocab);
  if (batch.certain_drafts()) {
    draft[static_cast<std::size_t>(batch.drafted_token(request, position))] = 1;
  } else {
    draft = probabilities(batch, false, request, position);
  }
  // The kernel draws a tile by the sum of its weights, then an id by its weight within the tile.
  double total = 0;
  for (const double partial : weight_sums) total += partial;
  std::vector<double> distribution(vocab);
  double rejected = 0;
  for (std::size_t id = 0; id < vocab; ++id) {
    distribution[id] = draft[id] * accepted[id];
    rejected += draft[id] * (1 - accepted[id]);
  }
  if (!(total > 0)) {
    const auto target = probabilities(batch, true, request, position);
    for (std::size_t id = 0; id < vocab; ++id) distribution[id] += rejected * target[id];
    return distribution;
  }
  for (std::size_t tile = 0; tile < tile_count; ++tile) {
    double within = 0;
    const std::size_t first = tile * tile_size;
    const std::size_t last = std::min(vocab, first + tile_size);
    for (std::size_t id = first; id < last; ++id) within += static_cast<double>(residual[id]);
    if (!(within > 0)) continue;
    for (std::size_t id = first; id < last; ++id) {
      distribution[id] += rejected * weight_sums[tile] / total * static_cast<double>(residual[id]) / within;
    }
  }
  return distribution;
}

double total_variation_of(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t id = 0; id < a.size(); ++id) sum += std::abs(a[id] - b[id]);
  return sum / 2;
}

std::vector<double> target_row(const LogitBatch& logits) { return probabilities(logits.batch, true, 0, 0); }

}  // namespace

TEST_CASE("the distribution of a token is the target's up to the grain of single precision") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    for (const std::int32_t vocab : {100, 32000, 128256}) {
      for (const double distance : {0.001, 0.5, 3.0}) {
        LogitBatch logits({.requests = 1, .gamma = 1, .vocab = vocab, .dtype = dtype, .distance = distance},
                          3);
        const double tv =
            total_variation_of(fused_token_distribution(logits.batch, 0, 0), target_row(logits));
        CAPTURE(vocab);
        CAPTURE(distance);
        CHECK(tv < 2e-6);
        CHECK(tv > 0);
      }
    }
  }
}

TEST_CASE("options, certain drafts and lenience are part of the distribution") {
  LogitBatch logits({.requests = 1, .gamma = 1, .vocab = 5000}, 3);
  const float temperature[] = {0.7F, 1};
  const float cutoff[] = {-1.0F, 0};
  logits.batch.target_options = {temperature, cutoff, nullptr};
  CHECK(total_variation_of(fused_token_distribution(logits.batch, 0, 0), target_row(logits)) < 2e-6);

  // Another distribution is far away: with the first residual of lenience a token's probability stays below p
  // / l.
  logits.batch.rule = {KernelRule::lenient, 0.5};
  const auto lenient = fused_token_distribution(logits.batch, 0, 0);
  CHECK(total_variation_of(lenient, target_row(logits)) > 0.01);
  const auto target = target_row(logits);
  for (std::size_t id = 0; id < target.size(); ++id) CHECK(lenient[id] <= target[id] / 0.5 + 1e-6);

  logits.batch.rule = {};
  logits.batch.draft = {};
  CHECK(total_variation_of(fused_token_distribution(logits.batch, 0, 0), target_row(logits)) < 2e-6);
}

TEST_CASE("the distribution is the kernel's: at stratified uniforms it emits in proportion") {
  // The drafted id is always rejected, so that 4000 equally spaced uniforms walk through the residual.
  constexpr std::int32_t requests = 4000;
  LogitBatch one({.requests = 1, .gamma = 1, .vocab = 30, .spread = 1}, 12);
  LogitBatch many({.requests = requests, .gamma = 1, .vocab = 30}, 12);
  std::vector<double> uniforms;
  for (std::int32_t request = 0; request < requests; ++request) {
    for (Token id = 0; id < 30; ++id) {
      for (std::int32_t i = 0; i < 2; ++i) many.target_logit(request, i, id) = one.target_logit(0, i, id);
      many.draft_logit(request, 0, id) = one.draft_logit(0, 0, id);
    }
    uniforms.push_back(1);
    uniforms.push_back((request + 0.5) / requests);
  }
  many.store();
  const auto target = target_row(one);
  const auto draft = probabilities(one.batch, false, 0, 0);
  const auto most = [&] {
    Token best = 0;
    for (Token id = 1; id < 30; ++id) {
      const auto excess = [&](Token at) {
        return draft[static_cast<std::size_t>(at)] / target[static_cast<std::size_t>(at)];
      };
      if (excess(id) > excess(best)) best = id;
    }
    return best;
  }();
  std::fill(many.drafted.begin(), many.drafted.end(), most);
  many.batch.addresses = nullptr;
  many.batch.uniforms = uniforms.data();
  run_emulated(Implementation::fused, many.batch);
  std::vector<double> emitted(30);
  for (const Token next : many.next) emitted[static_cast<std::size_t>(next)] += 1.0 / requests;

  // The distribution minus the accepted part is the residual's share.
  const auto distribution = fused_token_distribution(one.batch, 0, 0);
  double rejected = 0;
  std::vector<double> replaced(30);
  for (std::size_t id = 0; id < 30; ++id) {
    replaced[id] = distribution[id] - std::min(target[id], draft[id]);
    rejected += replaced[id];
  }
  for (std::size_t id = 0; id < 30; ++id) {
    CHECK(std::abs(emitted[id] - replaced[id] / rejected) <= 1.0 / requests + 1e-4);
  }
}
