// Recordings of pairs that speclab can run, and writing of recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/recorded/recording.hpp"
#include "core/token.hpp"
#include "experiments/run/setup.hpp"
#include "sim/control.hpp"

namespace speclab {

struct Config;

struct RecordedTokens {
  Recording recording;        ///< with entropies
  std::vector<Token> tokens;  ///< ids, one for each of its positions
  bool partial = false;       ///< `control` ended it early; the rest is then empty
};

/// A sequence of `length` tokens for each trial of the set-up, drawn from its target by plain decoding, with
/// the log-probabilities under both models. Throws ConfigError at "/rule" for a set-up whose target is not
/// the distribution of its rows.
RecordedTokens record_pair(const Setup& setup, std::size_t length, const Control& control = {});

/// Leaves out axes of a sweep that change neither of the models.
void drop_axes_of_decoding(Config& config);

enum class RecordingStyle { csv, json_lines, rows };

/// By the file's extension: .csv, .jsonl, or .safetensors with whole rows. Throws UsageError for another.
RecordingStyle recording_style(const std::string& file);

/// What `speclab record` is asked for.
struct RecordingOrder {
  std::string file;                          ///< to write; its extension says in which style
  std::optional<std::uint32_t> sequences{};  ///< without it the simulation's trials
  std::optional<std::size_t> tokens{};       ///< of each; without it the simulation's length
  bool with_entropy = false;                 ///< also the entropy of the target's rows
  std::int32_t top_rows = 0;  ///< also so many of the largest probabilities of both rows; 0: none
};

/// Records the pair of a config of one cell and writes the file, unless the control ended it early.
/// `control_for` is given the number of steps to come. Throws ConfigError and UsageError before the work.
RecordedTokens record_config(Config config, const RecordingOrder& order,
                             const std::function<Control(std::uint64_t)>& control_for);

/// The native format, csv or json_lines. Numbers are written with so many digits that they are read as they
/// were.
void write_recording(const RecordedTokens& recorded, const std::filesystem::path& file, RecordingStyle style,
                     bool with_entropy);

/// Whole rows of both models at each position, as safetensors: target [T, V] and draft [T, V] in f32,
/// probabilities; tokens [T] and sequence [T].
void write_row_recording(const Setup& setup, const RecordedTokens& recorded,
                         const std::filesystem::path& file);

}  // namespace speclab
