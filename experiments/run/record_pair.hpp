// Records the texts and log-probabilities of pairs that speclab can run, and writes recordings.
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
  Recording recording;        ///< includes entropies
  std::vector<Token> tokens;  ///< token id at each position of the recording
  bool partial = false;       ///< `control` ended it early; the rest is empty
};

/// Draws `length` tokens from the set-up's target for each trial, token by token, and records the
/// log-probabilities under both models. Throws ConfigError at "/rule" if the target is not the distribution
/// of its rows.
RecordedTokens record_pair(const Setup& setup, std::size_t length, const Control& control = {});

/// Removes a sweep's axes that change neither model.
void drop_axes_of_decoding(Config& config);

enum class RecordingStyle { csv, json_lines, rows };

/// Returns the style for an extension: .csv, .jsonl, or .safetensors (whole rows). Throws UsageError for
/// others.
RecordingStyle recording_style(const std::string& file);

/// The options of `speclab record`.
struct RecordingOrder {
  std::string file;                          ///< file to write; its extension gives the style
  std::optional<std::uint32_t> sequences{};  ///< default: the simulation's trials
  std::optional<std::size_t> tokens{};       ///< tokens per sequence; default: the simulation's length
  bool with_entropy = false;                 ///< also records the entropy of the target's rows
  std::int32_t top_rows = 0;  ///< also records so many of the largest probabilities of both rows
};

/// Records the pair of a config of one cell and writes the file, unless `control` ended it early.
/// `control_for` gets the number of steps. Throws ConfigError and UsageError before the work.
RecordedTokens record_config(Config config, const RecordingOrder& order,
                             const std::function<Control(std::uint64_t)>& control_for);

/// Writes speclab's own format, csv or json_lines; numbers read back unchanged.
void write_recording(const RecordedTokens& recorded, const std::filesystem::path& file, RecordingStyle style,
                     bool with_entropy);

/// Writes both models' rows at each position as safetensors: target [T, V] and draft [T, V] (f32
/// probabilities), tokens [T] and sequence [T].
void write_row_recording(const Setup& setup, const RecordedTokens& recorded,
                         const std::filesystem::path& file);

}  // namespace speclab
