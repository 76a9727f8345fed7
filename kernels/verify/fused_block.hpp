// Block verification in the fused form (Sun et al. 2024, Algorithm 2). The acceptance draws depend on the
// total of every position's residual, so that the last launch reads all rows again, where token verification
// reads one pair. Its last block makes the acceptance draws from the end and draws the next token.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/rules/block.hpp"
#include "kernels/verify/fused.hpp"

namespace speclab::fused {

static_assert(max_drafted_in_block == max_block);

/// Finds the next token with several blocks for each position of each request.
template <class T>
struct NextOfBlock : simt::KernelOf<fused::Args, tile_threads, std::is_same_v<T, AnyLogit> ? 2 : 3> {
  static constexpr const char* name = "next token of a block";

  struct Shared {
    PositionDecision verdicts[max_drafted_in_block];
    SidesScratch sides;
    TileWeightSum weight_sums[max_tiles];
    double log_prefix[max_drafted_in_block + 1];  ///< log2 of p_i
    double left_over[max_drafted_in_block];       ///< Z_i
    WeightScratch<typename RowOf<T>::Logit>
        scratch[2];  ///< tiles alternate between the two: one barrier per tile is enough
    Decision decision;
    bool last;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const VerifyBatch& batch = args.batch;
    const std::int32_t positions = batch.gamma + 1;
    const BlockPlace place = block_place(positions, args.next_blocks);
    const std::int64_t request = place.request;
    const std::int32_t position = place.position;
    const std::int32_t length = batch.length(request);
    const int thread = simt::thread_index();
    // These blocks make no acceptance draws, which otherwise wait for the previous launch.
    if (length <= 0 || length > batch.gamma || position > length) simt::wait_for_previous();
    if (refuses_length(batch, request, place.tile == 0 && position == 0 && thread == 0)) return;
    if (position > length) return;

    auto& shared = simt::shared<Shared>();
    for (std::int32_t first = 0; first < length; first += positions_at_once) {
      const PositionDecision decided = decide_positions<T>(args, request, first, length, shared.sides);
      if (thread < positions_at_once && first + thread < length) shared.verdicts[first + thread] = decided;
      simt::sync();
    }
    if (thread == 0) {
      shared.log_prefix[0] = 0;
      for (std::int32_t i = 0; i < length; ++i) {
        double log_next = shared.log_prefix[i] + shared.verdicts[i].log_ratio;
        if (log_next != log_next) log_next = log_of_zero;
        shared.log_prefix[i + 1] = log_next < 0 ? log_next : 0;
      }
    }
    simt::sync();

    const auto left_at = [&](std::int32_t i) { return LeftWeights<T>::of(args, request * positions + i); };
    const NextDistribution distribution = distribution_at(args, request, position, length, shared);
    if (distribution.weighing != Weighing::known) {
      weigh_tiles(row_pair<T>(batch, request, distribution), distribution, place.tile, args.next_blocks,
                  args.tiles, shared.scratch, left_at(position));
    }
    const auto blocks = static_cast<std::uint32_t>(args.next_blocks * (length + 1));
    if (!last_to_finish(args.weighed + request, blocks, shared.last)) return;

    // One thread computes each Z_i, tile after tile.
    for (std::int32_t i = 1 + thread; i < length; i += tile_threads) {
      if (shared.verdicts[i].target.top != no_token) {
        shared.left_over[i] = left_over_of_top(batch, request, i, shared);
        continue;
      }
      double sum = 0;
      for (std::int32_t t = 0; t < args.tiles; ++t) sum += simt::load_fresh(&left_at(i).sums[t].sum);
      const bool invalid = shared.verdicts[i].target.invalid() || shared.verdicts[i].draft.invalid();
      const double unit = distribution_at(args, request, i, length, shared).residual_unit();
      shared.left_over[i] = invalid ? invalid_log : sum * unit;
    }
    simt::sync();
    if (thread == 0) {
      std::int32_t accepted = length;
      while (accepted > 0 && !prefix_accepts(batch, request, accepted, length, shared)) --accepted;
      for (std::int32_t i = 0; i < accepted; ++i)
        leave_logs(batch, request, i, shared.verdicts[i].log_target, shared.verdicts[i].target);
      Decision decision{accepted, 0, false, distribution_of_bonus(batch, request, length)};
      if (accepted < length) {
        decision = rejection_at(batch, request, accepted, shared.verdicts[accepted]);
        decision.distribution = distribution_at(args, request, accepted, length, shared);
      }
      shared.decision = decision;
    }
    simt::sync();
    if (shared.decision.distribution.weighing == Weighing::known) {
      if (thread == 0) write_known(batch, request, shared.decision);
      return;
    }
    finish_from<T>(batch, request, args.tiles, shared.decision, left_at(shared.decision.accepted),
                   shared.weight_sums, shared.scratch);
  }

 private:
  /// Returns the distribution of the next token if the first `position` drafted tokens are accepted.
  SPECLAB_DEVICE static NextDistribution distribution_at(const Args& args, std::int64_t request,
                                                         std::int32_t position, std::int32_t length,
                                                         const Shared& shared) {
    if (position == length) return distribution_of_bonus(args.batch, request, length);
    NextDistribution distribution =
        distribution_of_rejection(args.batch, request, position, shared.verdicts[position]);
    distribution.log_prefix = static_cast<float>(shared.log_prefix[position]);
    return distribution;
  }

  /// Returns Z_i for a target with all probability on one id: (p_i - q)+ of that id.
  SPECLAB_DEVICE static double left_over_of_top(const VerifyBatch& batch, std::int64_t request,
                                                std::int32_t i, const Shared& shared) {
    const PositionDecision& decided = shared.verdicts[i];
    const Token top = decided.target.top;
    double log_draft = batch.certain_drafts() && batch.drafted_token(request, i) != top ? log_of_zero : 0;
    if (!batch.certain_drafts())
      log_draft = log_probability_of<T>(batch, false, request, i, top, decided.draft);
    const double left_over = exp2(shared.log_prefix[i]) - exp2(log_draft);
    return left_over < 0 ? 0 : left_over;
  }

  /// Returns whether the acceptance draw of `accepted` tokens succeeds. Its probability is h_i of
  /// BlockRule::block_acceptance_probability.
  SPECLAB_DEVICE static bool prefix_accepts(const VerifyBatch& batch, std::int64_t request,
                                            std::int32_t accepted, std::int32_t length,
                                            const Shared& shared) {
    const double u = uniform_of(batch, request, {Use::accept, static_cast<std::uint16_t>(accepted - 1)});
    const double prefix = exp2(shared.log_prefix[accepted]);
    if (accepted == length) return u < prefix;
    return u < BlockRule{}.block_acceptance_probability(shared.left_over[accepted], prefix);
  }
};

}  // namespace speclab::fused
