// Exact verification in two launches, without softmaxed rows and without V-sized scratch.
//
// `Statistics` reads each row whose log-sum-exp nobody knows once, one block a tile, and leaves (maximum,
// sum) per tile. `Next` decides every position's coin from those, in each of its blocks alike, then reads the
// one row pair that the next token is drawn from and leaves masses per tile; the last block of a request to
// finish chooses a tile, weighs it again and picks the id. The bonus row is read by `Next` alone.
//
// What should make it fast: logits are read as they are, in 16-byte loads, (s_t + s_d) gamma bytes an id and
// one row (pair) more; with both sums known only that row. Nothing waits for the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "speclab/kernels/simt/launch.hpp"
#include "speclab/kernels/verify/judgement.hpp"
#include "speclab/kernels/verify/weights.hpp"

namespace speclab::fused {

struct Args {
  VerifyBatch batch;
  std::int32_t tiles;
  std::int32_t target_rows;  ///< whose statistics are taken of a request, from its first position on
  std::int32_t draft_rows;
  PartMass* parts;          ///< [requests, target_rows + draft_rows, tiles]
  TileMasses* masses;       ///< [requests, tiles]; of block verification [requests, gamma + 1, tiles]
  std::uint32_t* finished;  ///< [requests] blocks that are done; zero before and after
};

/// The parts of one row.
SPECLAB_HD inline PartMass* parts_of(const Args& args, std::int64_t request, bool of_target,
                                     std::int32_t position) {
  const std::int32_t row = of_target ? position : args.target_rows + position;
  return args.parts + (request * (args.target_rows + args.draft_rows) + row) * args.tiles;
}

/// A row's sum: as given, or from its parts. By one warp.
SPECLAB_DEVICE inline LogSum row_sum(const Args& args, std::int64_t request, bool of_target,
                                     std::int32_t position) {
  const RowOptions& options = of_target ? args.batch.target_options : args.batch.draft_options;
  const std::int64_t at = request * (args.batch.gamma + (of_target ? 1 : 0)) + position;
  if (options.log_sum_exp != nullptr) return given_log_sum(simt::load(options.log_sum_exp + at));
  const PartMass* const parts = parts_of(args, request, of_target, position);
  return merge_tiles(args.tiles, [parts](std::int32_t t) {
    return PartMass{simt::load_fresh(&parts[t].reference), simt::load_fresh(&parts[t].sum)};
  });
}

template <class T>
struct Statistics {
  using Args = fused::Args;
  static constexpr const char* name = "statistics";
  static constexpr int threads = tile_threads;
  static constexpr int min_blocks = 4;

  SPECLAB_DEVICE void operator()(const Args& args) const {
    simt::let_next_start();
    const VerifyBatch& batch = args.batch;
    const std::int32_t rows = args.target_rows + args.draft_rows;
    const std::int64_t block = simt::block_index();
    const auto tile = static_cast<std::int32_t>(block % args.tiles);
    const auto row = static_cast<std::int32_t>(block / args.tiles % rows);
    const std::int64_t request = block / args.tiles / rows;
    const bool of_target = row < args.target_rows;
    const std::int32_t position = of_target ? row : row - args.target_rows;
    // Rows past a shorter request's end; the bonus row is wanted by block verification only.
    if (position >= batch.length(request) + (of_target && args.target_rows > batch.gamma ? 1 : 0)) return;

    const LogitRows& rows_of = of_target ? batch.target : batch.draft;
    const std::int64_t at = request * (batch.gamma + (of_target ? 1 : 0)) + position;
    const RowScale scale = row_scale(of_target ? batch.target_options : batch.draft_options, at);
    auto& room = simt::shared<MassRoom>();
    const HeldLogits mine = load_tile(row_of<T>(rows_of, request, position), batch.vocab, tile, scale.cutoff);
    const PartMass mass = tile_mass(mine, scale.scale, room);
    if (simt::thread_index() == 0) parts_of(args, request, of_target, position)[tile] = mass;
  }
};

/// What all blocks of a request find out alike before they read rows.
struct Verdicts {
  PositionJudgement position[most_drafted];
};

/// Where the coins end, and the law of the next token. Thread by thread the same.
struct Decision {
  std::int32_t accepted;
  std::uint32_t flags;
  bool damaged;
  NextLaw law;
};

SPECLAB_DEVICE inline Decision decide(const VerifyBatch& batch, std::int64_t request, std::int32_t length,
                                      const PositionJudgement* judged) {
  Decision decision{0, 0, false, {}};
  while (decision.accepted < length && judged[decision.accepted].kept) ++decision.accepted;
  NextLaw& law = decision.law;
  law.position = decision.accepted;
  if (decision.accepted == length) {
    law.weighing = Weighing::relative;
    return decision;
  }
  const PositionJudgement& end = judged[decision.accepted];
  decision.flags = end.flags;
  decision.damaged = end.target.damaged() || end.draft.damaged();
  law.weighing = Weighing::residual;
  law.target = end.target;
  law.draft = end.draft;
  law.log_scale = log_residual_scale(batch.rule);
  if (batch.certain_drafts()) law.certain = batch.drafted[request * batch.gamma + decision.accepted];
  return decision;
}

/// Draws the next token from the tiles' masses and writes the result. All threads of one block.
template <class T, class Masses>
SPECLAB_DEVICE void finish(const VerifyBatch& batch, std::int64_t request, std::int32_t tiles,
                           Decision decision, bool bonus, const Masses& masses, TileChoice& choice_room,
                           WeightRoom& room) {
  if (simt::thread_index() == 0) {
    const double u = uniform_of(batch, request, next_draw(bonus, decision.law.position));
    choice_room = choose_tile(tiles, decision.law, u, masses);
  }
  simt::sync();
  const TileChoice choice = choice_room;
  if (decision.damaged || choice.damaged) {
    if (simt::thread_index() == 0) {
      write_result(batch, request, decision.accepted, invalid_token, decision.flags | flag_damaged_row);
    }
    return;
  }
  if (choice.zero_residual) {
    decision.law.weighing = Weighing::target;
    decision.flags |= flag_zero_residual;
  }
  const HeldWeights weights =
      tile_weights<T>(batch, request, decision.law, choice.tile, masses(choice.tile).reference);
  const Token next = pick_in_tile<T>(weights, choice.tile, choice.goal, room);
  if (simt::thread_index() == 0) write_result(batch, request, decision.accepted, next, decision.flags);
}

/// Is this the last of a request's blocks? Whatever the others wrote before is there for `load_fresh`. The
/// counter is left at zero. All threads of the block.
SPECLAB_DEVICE inline bool last_to_finish(std::uint32_t* finished, std::uint32_t blocks, bool& room) {
  if (simt::thread_index() == 0) {
    simt::fence();
    room = simt::fetch_add(finished, 1U) == blocks - 1;
    if (room) *finished = 0;
    simt::fence();
  }
  simt::sync();
  return room;
}

SPECLAB_DEVICE inline TileMasses load_masses(const TileMasses* masses) {
  return {simt::load_fresh(&masses->residual), simt::load_fresh(&masses->target),
          simt::load_fresh(&masses->reference)};
}

/// Token and lenient verification: one block for each tile of each request.
template <class T>
struct Next {
  using Args = fused::Args;
  static constexpr const char* name = "next token";
  static constexpr int threads = tile_threads;
  static constexpr int min_blocks = 2;

  struct Shared {
    Verdicts verdicts;
    WeightRoom room;
    TileChoice choice;
    bool last;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const VerifyBatch& batch = args.batch;
    const auto tile = static_cast<std::int32_t>(simt::block_index() % args.tiles);
    const std::int64_t request = simt::block_index() / args.tiles;
    const std::int32_t length = batch.length(request);
    const int thread = simt::thread_index();
    simt::wait_for_previous();
    if (length < 0 || length > batch.gamma) {
      if (tile == 0 && thread == 0) write_result(batch, request, 0, invalid_token, flag_length_out_of_range);
      return;
    }

    auto& shared = simt::shared<Shared>();
    for (std::int32_t i = thread / simt::warp_size; i < length; i += tile_warps) {
      const PositionJudgement judged = judge_position<T>(
          batch, request, i,
          [&](bool of_target, std::int32_t position) { return row_sum(args, request, of_target, position); });
      if (thread % simt::warp_size == 0) shared.verdicts.position[i] = judged;
    }
    simt::sync();
    const Decision decision = decide(batch, request, length, shared.verdicts.position);
    TileMasses* const masses = args.masses + request * args.tiles;
    const TileMasses mine = tile_masses<T>(batch, request, decision.law, tile, shared.room);
    if (thread == 0) masses[tile] = mine;
    if (!last_to_finish(args.finished + request, static_cast<std::uint32_t>(args.tiles), shared.last)) return;
    finish<T>(
        batch, request, args.tiles, decision, decision.accepted == length,
        [masses](std::int32_t t) { return load_masses(masses + t); }, shared.choice, shared.room);
  }
};

}  // namespace speclab::fused
