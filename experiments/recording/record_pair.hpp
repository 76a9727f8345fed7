// Recordings of pairs that speclab can run, and writing of recordings.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/recorded/recording.hpp"
#include "core/token.hpp"
#include "experiments/run/setup.hpp"
#include "sim/control.hpp"

namespace speclab {

struct RecordedTokens {
  Recording recording;        ///< with entropies
  std::vector<Token> tokens;  ///< ids, one for each of its positions
  bool partial = false;       ///< `control` ended it early; the rest is then empty
};

/// A sequence of `length` tokens for each trial of the set-up, drawn from its target by plain decoding, with
/// the log-probabilities under both models. Throws ConfigError at "/rule" for a set-up whose target is not
/// the distribution of its rows.
RecordedTokens record_pair(const Setup& setup, std::size_t length, const Control& control = {});

enum class RecordingStyle { csv, json_lines };

/// The native format. Numbers are written with so many digits that they are read as they were.
void write_recording(const RecordedTokens& recorded, const std::filesystem::path& file, RecordingStyle style,
                     bool with_entropy);

/// Whole rows of both models at each position, as safetensors: target [T, V] and draft [T, V] in f32,
/// probabilities; tokens [T] and sequence [T].
void write_row_recording(const Setup& setup, const RecordedTokens& recorded,
                         const std::filesystem::path& file);

}  // namespace speclab
