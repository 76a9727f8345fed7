// The size of a config's simulation, and its engine.
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

/// "until": the simulation ends when a metric's interval is narrow enough.
struct UntilConfig {
  Metric metric = Metric::speedup;
  double half_width = 0;  ///< largest half-width
  bool relative = false;  ///< half_width is relative to the estimate
  std::uint64_t max_rounds = 1'000'000'000;
};

inline constexpr std::uint32_t max_batches = 4096;

struct SimulationConfig {
  std::uint32_t trials = 64;    ///< number of independent sequences
  std::uint32_t length = 2000;  ///< rounds in each sequence (tokens, for acceptance)
  std::uint32_t batches = 64;   ///< groups of whole trials from which intervals are computed
  PromptConfig prompt;
  std::int32_t prompt_tokens =
      0;  ///< instead of a prompt: each trial starts with this many tokens of the corpus
  std::optional<UntilConfig> until;  ///< if set, `trials` is the size before the first interim analysis
};

/// How tokens are drawn: `plain` reads whole rows of probabilities, `fast` looks up a few of them,
/// `automatic` takes the faster one.
enum class Engine { automatic, plain, fast };

}  // namespace speclab
