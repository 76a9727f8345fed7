// The section "compare" of a config: tasks, drafters and gamma policies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"
#include "experiments/config/config.hpp"

namespace speclab {

/// Text to decode, and the target that decodes it.
struct TaskConfig {
  std::string name;
  CorpusConfig corpus;
  std::optional<ModelConfig> target;  ///< without one the text itself is the target
  std::int32_t sequences = 64;        ///< held-out documents to decode
  std::int32_t tokens = 200;          ///< to decode in each, at most
  std::int32_t prompt_tokens = 100;   ///< of each document
  std::string prompt_until;           ///< instead: all tokens up to and with this one; empty: not so
};
const Typed<TaskConfig>& task_type();

struct CompareSection {
  std::vector<TaskConfig> tasks;
  std::vector<DrafterConfig> drafters;
  std::vector<std::int32_t> gammas{1, 2, 3, 4, 5, 6, 8, 10};
  std::vector<PolicyConfig> policies;
  double verify = 0;          ///< time of a target run for each token that it verifies, beyond 1
  std::int32_t batches = 32;  ///< stretches of sequences for batch-means intervals
};

}  // namespace speclab
