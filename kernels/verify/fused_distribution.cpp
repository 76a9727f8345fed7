#include "kernels/verify/fused_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/simt/emulator.hpp"
#include "kernels/verify/fused.hpp"
#include "kernels/verify/fused_layout.hpp"
#include "kernels/verify/reference.hpp"

namespace speclab {

namespace {

struct ProbeArgs {
  VerifyBatch batch;
  std::int64_t request;
  std::int32_t position;
  std::int32_t tiles;
  PartMass* parts;      ///< [2, tiles]
  double* kept;         ///< [vocab] probability that an id's coin comes up
  float* residual;      ///< [tiles * tile_size]
  double* tile_masses;  ///< [tiles]
};

/// One block that does what the fused kernels do with one row pair, and writes down the numbers.
template <class T>
struct Probe {
  using Args = ProbeArgs;
  static constexpr const char* name = "probe";
  static constexpr int threads = tile_threads;
  static constexpr int min_blocks = 1;

  struct Shared {
    MassRoom mass;
    WeightRoom room;
    PositionJudgement judged;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    auto& shared = simt::shared<Shared>();
    const RowPair<T> rows{args.batch, args.request, args.position};
    const int thread = simt::thread_index();
    for (std::int32_t tile = 0; tile < args.tiles; ++tile) {
      for (const bool of_target : {true, false}) {
        if (!of_target && args.batch.certain_drafts()) break;
        const PartMass mass = of_target ? tile_mass(rows.target(tile), rows.target_scale().scale, shared.mass)
                                        : tile_mass(rows.draft(tile), rows.draft_scale().scale, shared.mass);
        if (thread == 0) args.parts[(of_target ? 0 : args.tiles) + tile] = mass;
        simt::sync();
      }
    }
    if (thread < simt::warp_size) {
      const auto sum_of = [&](bool of_target) {
        if (!of_target && args.batch.certain_drafts()) return LogSum{0, 0};
        const PartMass* const parts = args.parts + (of_target ? 0 : args.tiles);
        return sum_of_row(args.batch, args.request, of_target, args.position, args.tiles,
                          [parts](std::int32_t t) { return parts[t]; });
      };
      const PositionJudgement judged{sum_of(true), sum_of(false), 0, 0, false};
      if (thread == 0) {
        shared.judged = judged;
      }
    }
    simt::sync();
    for (Token id = thread; id < args.batch.vocab; id += threads) {
      std::uint32_t flags = 0;
      const double log_kept = log_ratio_of<T>(args.batch, args.request, args.position, id,
                                              shared.judged.target, shared.judged.draft, flags) -
                              log_lenience_of(args.batch.rule);
      args.kept[id] = log_kept >= 0 ? 1 : exp2(log_kept);
    }
    const NextLaw law = fused::law_of_rejection(args.batch, args.request, args.position, shared.judged);
    for (std::int32_t tile = 0; tile < args.tiles; ++tile) {
      const TileMasses masses = tile_masses<T>(rows, law, tile, shared.room);
      simt::sync();
      const HeldWeights weights = tile_weights<T>(rows, law, tile, 0);
      if (thread == 0) args.tile_masses[tile] = masses.residual;
      using Shape = TileShape<T>;
      for (int i = 0; i < held; ++i) {
        args.residual[Shape::first(tile, i / Shape::width, thread) + i % Shape::width] = weights.weight[i];
      }
    }
  }
};

}  // namespace

std::vector<double> fused_token_law(const VerifyBatch& batch, std::int64_t request, std::int32_t position) {
  const std::int32_t tiles = tiles_of(batch.vocab);
  const auto vocab = static_cast<std::size_t>(batch.vocab);
  const auto tile_count = static_cast<std::size_t>(tiles);
  std::vector<PartMass> parts(2 * tile_count);
  std::vector<double> kept(vocab);
  std::vector<float> residual(tile_count * tile_size);
  std::vector<double> masses(tile_count);
  const ProbeArgs args{batch,        request,     position,        tiles,
                       parts.data(), kept.data(), residual.data(), masses.data()};
  with_logit_type(batch.target.dtype, [&](auto logit) {
    using T = decltype(logit);
    simt::EmulatedExecutor().run<Probe<T>>(simt::launch_of<Probe<T>>(1), args);
  });

  std::vector<double> draft(vocab);
  if (batch.certain_drafts()) {
    draft[static_cast<std::size_t>(batch.drafted[request * batch.gamma + position])] = 1;
  } else {
    draft = probabilities(batch.draft, batch.draft_options, batch.gamma, request, position, batch.vocab);
  }
  // A tile by its mass, then an id by its weight within the tile.
  double total = 0;
  for (const double mass : masses) total += mass;
  std::vector<double> law(vocab);
  double rejected = 0;
  for (std::size_t id = 0; id < vocab; ++id) {
    law[id] = draft[id] * kept[id];
    rejected += draft[id] * (1 - kept[id]);
  }
  if (!(total > 0)) {
    const auto target =
        probabilities(batch.target, batch.target_options, batch.gamma + 1, request, position, batch.vocab);
    for (std::size_t id = 0; id < vocab; ++id) law[id] += rejected * target[id];
    return law;
  }
  for (std::size_t tile = 0; tile < tile_count; ++tile) {
    double within = 0;
    const std::size_t first = tile * tile_size;
    const std::size_t last = std::min(vocab, first + tile_size);
    for (std::size_t id = first; id < last; ++id) within += static_cast<double>(residual[id]);
    if (!(within > 0)) continue;
    for (std::size_t id = first; id < last; ++id) {
      law[id] += rejected * masses[tile] / total * static_cast<double>(residual[id]) / within;
    }
  }
  return law;
}

}  // namespace speclab
