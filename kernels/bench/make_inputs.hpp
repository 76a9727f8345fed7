// Inputs of a measurement, made where they are used, on any executor: logits, and drafted tokens drawn from
// the draft's.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/bench/measure.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/launch.hpp"
#include "kernels/verify/tile.hpp"

namespace speclab::bench {

struct FillArgs {
  void* logits;  ///< [requests, positions, vocab], dense
  MadeLogits how;
  std::int32_t gamma;
  std::int32_t vocab;
  bool of_target;  ///< gamma + 1 positions; else gamma
};

/// One block for `ids` ids of a row.
template <class T>
struct FillLogits : simt::KernelOf<FillArgs, 256, 4> {
  static constexpr const char* name = "fill logits";
  static constexpr std::int32_t ids = 4 * threads;

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const std::int32_t chunks = (args.vocab + ids - 1) / ids;
    const auto chunk = static_cast<std::int32_t>(simt::block_index() % chunks);
    const std::int64_t row = simt::block_index() / chunks;
    const std::int32_t positions = args.gamma + (args.of_target ? 1 : 0);
    const std::int64_t made_row = row / positions * (args.gamma + 1) + row % positions;
    T* const out = static_cast<T*>(args.logits) + row * args.vocab;
    for (std::int32_t i = 0; i < ids; i += threads) {
      const std::int32_t id = chunk * ids + i + simt::thread_index();
      if (id >= args.vocab) continue;
      const MadeLogit made = made_logit(args.how, made_row, id);
      out[id] = from_float<T>(args.of_target ? made.target : made.draft);
    }
  }

  static simt::Launch launch(std::int64_t rows, std::int32_t vocab) {
    return simt::launch_of<FillLogits>(rows * ((vocab + ids - 1) / ids));
  }
};

struct DrawArgs {
  const void* logits;  ///< [rows, vocab], dense
  Token* drafted;      ///< [rows]
  std::int32_t vocab;
  std::uint64_t seed;
};

/// Draws a token of each row's softmax by the largest of logits with Gumbel noise (Maddison et al. 2014,
/// "A* sampling", section 2): one pass, no sums. One block per row.
template <class T>
struct DrawDrafts : simt::KernelOf<DrawArgs, 256, 4> {
  static constexpr const char* name = "draw drafts";

  struct Shared {
    simt::BlockScratch<std::uint64_t, threads / simt::warp_size> scratch;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const std::int64_t row = simt::block_index();
    const T* const logits = static_cast<const T*>(args.logits) + row * args.vocab;
    std::uint64_t best = 0;
    for (std::int32_t id = simt::thread_index(); id < args.vocab; id += threads) {
      Philox stream(args.seed, Site{static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(id),
                                    Draw{Use::draft, 0}});
      const double noise = -log(-log(open_unit(stream())));
      const auto noisy = static_cast<float>(static_cast<double>(to_float(load_one(logits + id))) + noise);
      const std::uint64_t key = key_of(noisy, id);
      best = best > key ? best : key;
    }
    auto& shared = simt::shared<Shared>();
    best = simt::block_reduce(best, shared.scratch,
                              [](std::uint64_t a, std::uint64_t b) { return a > b ? a : b; });
    if (simt::thread_index() == 0) {
      args.drafted[row] = static_cast<Token>(~static_cast<std::uint32_t>(best));
    }
  }

  static simt::Launch launch(std::int64_t rows) { return simt::launch_of<DrawDrafts>(rows); }

 private:
  /// Greater for a greater value; of equals, for the lower id.
  SPECLAB_HD static std::uint64_t key_of(float value, std::int32_t id) {
    const std::uint32_t bits = bits_of_float(value);
    const std::uint32_t order = (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
    return (std::uint64_t{order} << 32U) | static_cast<std::uint32_t>(~static_cast<std::uint32_t>(id));
  }
};

}  // namespace speclab::bench

namespace speclab {

/// target: [requests, gamma + 1, vocab], draft: [requests, gamma, vocab], drafted: [requests, gamma], where
/// the executor works.
template <class Executor>
void make_inputs(Executor&& executor, const BenchShape& shape, const MadeLogits& how, void* target,
                 void* draft, Token* drafted) {
  const std::int64_t drafts = std::int64_t{shape.requests} * shape.gamma;
  with_logit_type(shape.dtype, [&](auto logit) {
    using T = decltype(logit);
    using Fill = bench::FillLogits<T>;
    using Draws = bench::DrawDrafts<T>;
    executor.template run<Fill>(Fill::launch(drafts + shape.requests, shape.vocab),
                                {target, how, shape.gamma, shape.vocab, true});
    executor.template run<Fill>(Fill::launch(drafts, shape.vocab),
                                {draft, how, shape.gamma, shape.vocab, false});
    executor.template run<Draws>(Draws::launch(drafts), {draft, drafted, shape.vocab, how.seed});
  });
}

}  // namespace speclab
