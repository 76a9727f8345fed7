// Makes the inputs of a measurement on any executor, in its memory: logits, and drafted tokens that are drawn
// from the draft's rows or are the draft's likeliest.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/bench/bench_batch.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/launch.hpp"
#include "kernels/verify/tile.hpp"

namespace speclab::bench {

struct FillArgs {
  void* logits;  ///< [requests, rows, vocab], dense
  MadeLogits how;
  std::int32_t rows;       ///< rows per request
  std::int32_t positions;  ///< positions per request: gamma + 1
  /// [rows] the position of each of the draft's rows; null: these are the target's rows, one for each
  /// position.
  const std::int32_t* row_position;
  std::int32_t vocab;
};

/// Fills a row with made-up logits. One block fills `ids` ids of a row.
template <class T>
struct FillLogits : simt::KernelOf<FillArgs, 256, 4> {
  static constexpr const char* name = "fill logits";
  static constexpr std::int32_t ids = 4 * threads;

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const std::int32_t chunks = (args.vocab + ids - 1) / ids;
    const auto chunk = static_cast<std::int32_t>(simt::block_index() % chunks);
    const std::int64_t row = simt::block_index() / chunks;
    const auto of_request = static_cast<std::int32_t>(row % args.rows);
    const bool of_target = args.row_position == nullptr;
    const std::int32_t position = of_target ? of_request : simt::load(args.row_position + of_request);
    const std::int64_t made_row = row / args.rows * args.positions + position;
    T* const out = static_cast<T*>(args.logits) + row * args.vocab;
    for (std::int32_t i = 0; i < ids; i += threads) {
      const std::int32_t id = chunk * ids + i + simt::thread_index();
      if (id >= args.vocab) continue;
      const MadeLogit made = made_logit(args.how, made_row, id);
      out[id] = from_float<T>(of_target ? made.target : made.draft);
    }
  }

  static simt::Launch launch(std::int64_t rows, std::int32_t vocab) {
    return simt::launch_of<FillLogits>(rows * ((vocab + ids - 1) / ids));
  }
};

struct PickArgs {
  /// [requests, draft_rows, vocab], dense; null: tokens are chosen, not drawn, and the draft's row is made up
  /// here.
  const void* logits;
  MadeLogits how;
  Token* drafted;                 ///< [requests, nodes]
  const std::int32_t* parents;    ///< [nodes]
  const std::int32_t* draft_row;  ///< [nodes] the draft's row of each position
  const std::int32_t* rank;       ///< [nodes] number of siblings before each node
  std::int32_t nodes;
  std::int32_t draft_rows;
  std::int32_t vocab;
};

/// Picks each node's token from its parent's row. Drawn tokens have the largest logits after Gumbel noise is
/// added, which needs no sums. Siblings share the noise, so that they are drawn without replacement (Kool et
/// al. 2019, "Stochastic beams and where to find them", section 2.3; for a single draw, Maddison et al. 2014,
/// "A* sampling", section 2). Chosen tokens have the largest logits without noise. If there are fewer ids
/// than siblings, the token is -1. One block serves one node, with a pass for the node and one for each
/// sibling before it.
template <class T>
struct PickDrafts : simt::KernelOf<PickArgs, 256, 4> {
  static constexpr const char* name = "pick drafts";

  struct Shared {
    simt::BlockScratch<std::uint64_t, threads / simt::warp_size> scratch;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const auto node = static_cast<std::int32_t>(simt::block_index() % args.nodes);
    const std::int64_t request = simt::block_index() / args.nodes;
    const std::int32_t position = simt::load(args.parents + node) + 1;
    const std::int64_t row = request * args.draft_rows + simt::load(args.draft_row + position);
    const std::int64_t made_row = request * (args.nodes + 1) + position;
    auto& shared = simt::shared<Shared>();
    std::uint64_t last = ~std::uint64_t{0};
    for (std::int32_t pass = simt::load(args.rank + node); pass >= 0; --pass) {
      std::uint64_t best = 0;
      for (std::int32_t id = simt::thread_index(); id < args.vocab; id += threads) {
        const std::uint64_t key = key_of(value(args, row, made_row, id), id);
        if (key < last && key > best) best = key;
      }
      last = simt::block_reduce(best, shared.scratch,
                                [](std::uint64_t a, std::uint64_t b) { return a > b ? a : b; });
      simt::sync();
    }
    if (simt::thread_index() == 0)
      args.drafted[request * args.nodes + node] = static_cast<Token>(~static_cast<std::uint32_t>(last));
  }

  static simt::Launch launch(std::int64_t nodes) { return simt::launch_of<PickDrafts>(nodes); }

 private:
  SPECLAB_DEVICE static float value(const Args& args, std::int64_t row, std::int64_t made_row,
                                    std::int32_t id) {
    if (args.logits == nullptr) return to_float(from_float<T>(made_logit(args.how, made_row, id).draft));
    Philox stream(args.how.seed,
                  Site{static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(id), Draw{Use::draft, 0}});
    const double noise = -log(-log(open_unit(stream())));
    const T* const logits = static_cast<const T*>(args.logits) + row * args.vocab;
    return static_cast<float>(static_cast<double>(to_float(load_one(logits + id))) + noise);
  }
  /// Returns a key that is greater for a greater value and, among equal values, for the lower id.
  SPECLAB_HD static std::uint64_t key_of(float value, std::int32_t id) {
    const std::uint32_t bits = bits_of_float(value);
    const std::uint32_t order = (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
    return (std::uint64_t{order} << 32U) | static_cast<std::uint32_t>(~static_cast<std::uint32_t>(id));
  }
};

}  // namespace speclab::bench

namespace speclab {

/// Makes the logits and drafted tokens of a batch in the executor's memory.
template <class Executor>
void make_inputs(Executor&& executor, const BenchShape& shape, const MadeLogits& how, const BenchBatch& to) {
  const std::int64_t requests = shape.requests;
  const VerifyBatch& batch = to.tree.batch;
  with_logit_type(shape.dtype, [&](auto logit) {
    using T = decltype(logit);
    using Fill = bench::FillLogits<T>;
    using Pick = bench::PickDrafts<T>;
    const auto fill = [&](const LogitRows& rows, std::int32_t count, const std::int32_t* row_position) {
      executor.template run<Fill>(
          Fill::launch(requests * count, shape.vocab),
          {const_cast<void*>(rows.data), how, count, shape.gamma + 1, row_position, shape.vocab});
    };
    fill(batch.target, shape.gamma + 1, nullptr);
    if (!batch.certain_drafts()) fill(batch.draft, to.draft_rows, to.row_position);
    executor.template run<Pick>(Pick::launch(requests * shape.gamma),
                                {batch.draft.data, how, const_cast<Token*>(batch.drafted.data), to.parents,
                                 to.draft_row, to.rank, shape.gamma, to.draft_rows, shape.vocab});
  });
}

}  // namespace speclab
