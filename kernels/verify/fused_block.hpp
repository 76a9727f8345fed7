// Block verification in the fused form (Sun et al. 2024, Algorithm 2): every position's residual has a mass
// that the coins depend on, so that the last launch reads all rows again, where token verification reads
// one pair. Its last block flips the coins from the end and draws the next token.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/rules/block.hpp"
#include "kernels/verify/fused.hpp"

namespace speclab::fused {

/// Several blocks for each position of each request.
template <class T>
struct NextOfBlock {
  using Args = fused::Args;
  static constexpr const char* name = "next token of a block";
  static constexpr int threads = tile_threads;
  static constexpr int min_blocks = 2;

  struct Shared {
    Verdicts verdicts;
    double log_prefix[most_drafted + 1];  ///< log2 of p_i
    double left_over[most_drafted];       ///< Z_i
    WeightRoom room;
    TileChoice choice;
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
    simt::wait_for_previous();
    if (length < 0 || length > batch.gamma) {
      if (place.tile == 0 && position == 0 && thread == 0) {
        write_result(batch, request, 0, invalid_token, flag_length_out_of_range);
      }
      return;
    }
    if (position > length) return;

    auto& shared = simt::shared<Shared>();
    load_verdicts(args, request, length, shared.verdicts);
    simt::sync();
    if (thread == 0) {
      shared.log_prefix[0] = 0;
      for (std::int32_t i = 0; i < length; ++i) {
        double log_next = shared.log_prefix[i] + shared.verdicts.position[i].log_ratio;
        if (log_next != log_next) log_next = no_mass;
        shared.log_prefix[i + 1] = log_next < 0 ? log_next : 0;
      }
    }
    simt::sync();

    TileMasses* const masses = args.masses + request * positions * args.tiles;
    weigh_tiles<T>({batch, request, position}, law_at(args, request, position, length, shared), place.tile,
                   args.next_blocks, args.tiles, masses + std::int64_t{position} * args.tiles, shared.room);
    const auto blocks = static_cast<std::uint32_t>(args.next_blocks * (length + 1));
    if (!last_to_finish(args.weighed + request, blocks, shared.last)) return;

    // Each Z_i by one thread, tile after tile.
    for (std::int32_t i = 1 + thread; i < length; i += threads) {
      double sum = 0;
      for (std::int32_t t = 0; t < args.tiles; ++t) {
        sum += simt::load_fresh(&masses[i * args.tiles + t].residual);
      }
      shared.left_over[i] = sum;
    }
    simt::sync();
    if (thread == 0) {
      std::int32_t kept = length;
      while (kept > 0 && !coin(batch, request, kept, length, shared)) --kept;
      Decision decision{kept, 0, false, law_of_bonus(length)};
      if (kept < length) {
        decision = rejection_at(batch, request, kept, shared.verdicts.position[kept]);
        decision.law = law_at(args, request, kept, length, shared);
      }
      shared.decision = decision;
    }
    simt::sync();
    const Decision decision = shared.decision;
    const TileMasses* const chosen = masses + std::int64_t{decision.accepted} * args.tiles;
    finish_from<T>(batch, request, args.tiles, decision, decision.accepted == length, chosen, shared.choice,
                   shared.room);
  }

 private:
  /// The law of the next token if the first `position` drafted tokens are kept.
  SPECLAB_DEVICE static NextLaw law_at(const Args& args, std::int64_t request, std::int32_t position,
                                       std::int32_t length, const Shared& shared) {
    if (position == length) return law_of_bonus(length);
    NextLaw law = law_of_rejection(args.batch, request, position, shared.verdicts.position[position]);
    law.log_prefix = static_cast<float>(shared.log_prefix[position]);
    return law;
  }

  /// Does the coin of keeping `kept` tokens come up? Probability h_i of BlockRule::keep_probability.
  SPECLAB_DEVICE static bool coin(const VerifyBatch& batch, std::int64_t request, std::int32_t kept,
                                  std::int32_t length, const Shared& shared) {
    const double u = uniform_of(batch, request, {Use::accept, static_cast<std::uint16_t>(kept - 1)});
    const double prefix = exp2(shared.log_prefix[kept]);
    if (kept == length) return u < prefix;
    return u < BlockRule{}.keep_probability(shared.left_over[kept], prefix);
  }
};

}  // namespace speclab::fused
