// Simulates rounds of independent acceptances (core/round/iid_lengths.hpp). A thread block takes a share of
// one piece (at most 2^20 rounds, core/round/batches.hpp) of one batch. Each Philox block serves two rounds;
// the threads stride over these blocks and count in columns of shared memory, one per thread, so that
// counting needs no atomics until the share is done.
//
// Instructions bound its speed. It reads only thresholds, in shared memory, and writes only gamma + 1
// counters per thread block. A Philox block is 20 multiplications to 64 bits and 20 exclusive ors of three
// numbers; its keys are the same for all threads. In all the loop has 170 PTX instructions (nvcc 13.0, sm_90;
// some of them only name a value), and 9 more per round for each threshold that its warp compares: the
// slowest lane decides, and nearly always compares all gamma. At gamma = 5 this makes 130 per round, with no
// byte of global memory.
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
    std::uint64_t* lengths;  ///< [batches][gamma + 1] counts, which the kernel adds to
  };

  static constexpr const char* name = "i.i.d. rounds";
  static constexpr int threads = 128;
  static constexpr int min_blocks = 12;
  /// Rounds of a share: many, compared with the counting at its end.
  static constexpr std::uint64_t share_rounds = 1U << 16U;

  /// Bytes of dynamic shared memory: the thresholds, then gamma + 1 counters of each thread.
  static constexpr std::size_t shared_bytes(std::int32_t gamma) {
    const auto count = static_cast<std::size_t>(gamma);
    return count * sizeof(std::uint64_t) + (count + 1) * threads * sizeof(std::uint32_t);
  }

  /// Returns one thread block's part of a piece.
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

    // Philox blocks are numbered from 0 within each trial, from the trial in which the share begins; striding
    // needs no division. A share spans at most share_rounds trials.
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
      // A block at either end of the share may have a word of another share; the last block of a trial of odd
      // length has a word of no round.
      const std::uint64_t round = trial * args.length + 2 * std::uint64_t{number};
      const bool has_second = 2 * std::uint64_t{number} + 1 < args.length;
      if (share.begin <= round) ++column[iid_accepted(words.first, thresholds, gamma) * threads];
      if (has_second && round + 1 < share.end)
        ++column[iid_accepted(words.second, thresholds, gamma) * threads];
      trial += trials_a_stride;
      number += blocks_a_stride;
      if (number >= blocks_a_trial) {
        number -= blocks_a_trial;
        ++trial;
      }
    }
    simt::sync();

    // Each warp in turn takes a length and adds up its row of counters.
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
