// How much a config simulates, and with which engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/token.hpp"
#include "experiments/config/metric.hpp"

namespace speclab {

/// Text, or token ids.
using PromptConfig = std::variant<std::vector<Token>, std::string>;
inline bool is_empty(const PromptConfig& prompt) {
  return std::visit([](const auto& content) { return content.empty(); }, prompt);
}

/// The width of an interval at which a simulation ends.
struct UntilConfig {
  Metric metric = Metric::speedup;
  double half_width = 0;  ///< greatest half-width of the metric's interval
  bool relative = false;  ///< half_width is relative to the estimate
  std::uint64_t most_rounds = 1'000'000'000;
};

inline constexpr std::uint32_t max_batches = 4096;

struct SimulationConfig {
  std::uint32_t trials = 64;    ///< number of independent sequences
  std::uint32_t length = 2000;  ///< rounds in each sequence (tokens, for acceptance)
  std::uint32_t batches = 64;   ///< groups of whole trials from which intervals are computed
  PromptConfig prompt;
  std::int32_t prompt_tokens = 0;    ///< instead of one prompt: tokens of the corpus for each trial
  std::optional<UntilConfig> until;  ///< with it, `trials` is the number before the first look
};

enum class Engine { automatic, plain, fast };

}  // namespace speclab
