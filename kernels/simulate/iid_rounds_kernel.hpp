// Rounds of independent acceptances (core/round/iid_lengths.hpp). A block of threads takes a share of one
// piece of one batch; its threads stride over the Philox blocks, two rounds each, and count in columns of
// shared memory, one a thread, so that counting needs no atomics until the share is done.
//
// What bounds it: instructions. Nothing is read but thresholds in shared memory, and nothing written but
// gamma + 1 counters a thread block. A Philox block is 20 multiplications to 64 bits and 20 exclusive ors of
// three numbers; its keys are the same for all threads. In all the loop has 170 PTX instructions (nvcc 13.0,
// sm_90; some of them names only), and 9 more a round for each threshold that its warp looks at: the slowest
// lane decides, nearly always after all gamma. At gamma = 5 that is 130 a round, with no byte of global
// memory.
#pragma once

#include <cstdint>

#include "core/round/iid_lengths.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/simt.hpp"

namespace speclab {

struct IidRounds {
  struct Args {
    std::uint64_t seed;
    BatchCut cut;
    std::uint32_t length;
    std::int32_t gamma;
    const std::uint64_t* thresholds;  ///< [gamma]
    std::uint64_t first_piece;
    std::uint32_t shares;    ///< thread blocks that share a piece
    std::uint64_t* lengths;  ///< [batches][gamma + 1], added to
  };

  static constexpr const char* name = "i.i.d. rounds";
  static constexpr int threads = 128;
  static constexpr int min_blocks = 12;
  /// Rounds of a share: long against the counting at its end.
  static constexpr std::uint64_t share_rounds = 1U << 16U;

  /// Bytes of dynamic shared memory: the thresholds, then gamma + 1 counters of each thread.
  static constexpr std::size_t shared_bytes(std::int32_t gamma) {
    const auto count = static_cast<std::size_t>(gamma);
    return count * sizeof(std::uint64_t) + (count + 1) * threads * sizeof(std::uint32_t);
  }

  /// A piece's part for one thread block.
  SPECLAB_HD static Piece share_of(const Piece& piece, std::uint64_t share) {
    const std::uint64_t begin = piece.begin + share * share_rounds;
    const std::uint64_t full = begin + share_rounds;
    return {piece.batch, begin, full < piece.end ? full : piece.end};
  }

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const auto block = static_cast<std::uint64_t>(simt::block_index());
    const Piece share =
        share_of(piece_at(args.cut, args.first_piece + block / args.shares), block % args.shares);
    if (share.rounds() == 0) return;

    const int thread = simt::thread_index();
    const std::int32_t gamma = args.gamma;
    auto* const thresholds = reinterpret_cast<std::uint64_t*>(simt::dynamic_shared());
    auto* const counters = reinterpret_cast<std::uint32_t*>(thresholds + gamma);
    std::uint32_t* const column = counters + thread;
    for (std::int32_t k = thread; k < gamma; k += threads) thresholds[k] = args.thresholds[k];
    for (std::int32_t k = 0; k <= gamma; ++k) column[k * threads] = 0;
    simt::sync();

    // Blocks are numbered within the trial that the share begins in and those after it; striding takes no
    // division. A share spans no more than share_rounds trials.
    const std::uint32_t blocks_a_trial = args.length / 2 + args.length % 2;
    const std::uint64_t first = iid_block(share.begin, args.length);
    const auto blocks = static_cast<std::uint32_t>(iid_blocks(share, args.length));
    const auto own = static_cast<std::uint32_t>(thread);
    std::uint64_t trial = (first + own) / blocks_a_trial;
    auto number = static_cast<std::uint32_t>((first + own) % blocks_a_trial);
    const std::uint32_t trials_a_stride = threads / blocks_a_trial;
    const std::uint32_t blocks_a_stride = threads % blocks_a_trial;
    for (std::uint32_t i = own; i < blocks; i += threads) {
      const PhiloxWords words = iid_words(args.seed, static_cast<std::uint32_t>(trial), number);
      // Blocks at the ends of the share, or of an odd trial, have a word that belongs to somebody else.
      const std::uint64_t round = trial * args.length + 2 * std::uint64_t{number};
      const bool has_second = 2 * std::uint64_t{number} + 1 < args.length;
      if (share.begin <= round) ++column[iid_accepted(words.first, thresholds, gamma) * threads];
      if (has_second && round + 1 < share.end) {
        ++column[iid_accepted(words.second, thresholds, gamma) * threads];
      }
      trial += trials_a_stride;
      number += blocks_a_stride;
      if (number >= blocks_a_trial) {
        number -= blocks_a_trial;
        ++trial;
      }
    }
    simt::sync();

    // Warp after warp takes a length and adds up its row of counters.
    const int lane = thread % simt::warp_size;
    for (std::int32_t k = thread / simt::warp_size; k <= gamma; k += threads / simt::warp_size) {
      std::uint32_t sum = 0;
      for (int i = lane; i < threads; i += simt::warp_size) sum += counters[k * threads + i];
      sum = simt::warp_sum(sum);
      if (lane == 0 && sum > 0) {
        simt::fetch_add(args.lengths + std::uint64_t{share.batch} * static_cast<std::uint64_t>(gamma + 1) + k,
                        std::uint64_t{sum});
      }
    }
  }
};

}  // namespace speclab
