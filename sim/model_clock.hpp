// Models by the clock: how long their runs take, and decoding by them. In one thread, and with models that
// keep no rows. Timings are measurements, never part of a result's identity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/any_rule.hpp"
#include "sim/control.hpp"

namespace speclab {

/// What time is: that of the wall, or the processor time of this thread, which others on the machine disturb
/// less. The latter leaves out threads of the models' own.
enum class ClockKind { wall, processor };

/// Seconds of runs, by new positions: element n - 1 is of a run over n of them, with their rows.
struct RunSeconds {
  std::vector<double> target;
  std::vector<double> draft;
};

/// Medians over `starts`, in turn. At each, rounds of 0, 1, ..., most - 1 drafted tokens are played along
/// every text as decoding plays them, since what ran before a run changes its time: a target run of as many
/// positions, draft runs, then the target run that is timed. The draft's second entry is what a run costs
/// that has two new tokens, as after a round which accepted everything, with what it makes the next one cost.
/// Several texts are a batch: their runs are made together, by models that can, and timed so.
/// start > most >= 2, and from start on texts have most tokens and at least 3.
RunSeconds measure_runs(const Model& target, const Model& draft, std::span<const std::vector<Token>> texts,
                        std::span<const std::size_t> starts, std::size_t most, ClockKind clock);

/// One decoding, of a batch of texts.
struct ClockedDecode {
  double seconds = 0;
  std::uint64_t tokens = 0;
  std::uint64_t rounds = 0;
};

struct ClockedGammas {
  std::vector<ClockedDecode> plain;                ///< by repeat
  std::vector<std::vector<ClockedDecode>> gammas;  ///< by gamma, then repeat
};

/// In every repeat plain decoding and decoding with each gamma in turn, from the same prompts, until each
/// text of a batch of `batch` has at least `tokens`. The prompts, which texts take in turn, are read before
/// the clock starts. Nothing when `control` ended it; its progress counts tokens of a text.
ClockedGammas clock_decoding(const Model& target, const Model& draft, const AnyRule& rule,
                             std::span<const std::int32_t> gammas,
                             std::span<const std::vector<Token>> prompts, std::uint64_t seed,
                             std::size_t tokens, std::uint32_t repeats, std::size_t batch, ClockKind clock,
                             const Control& control = {});

}  // namespace speclab
