// What a server logged about acceptance, from a file.
#pragma once

#include <string>
#include <vector>

#include "analysis/statistics/acceptance_log.hpp"

namespace speclab {

struct AcceptanceFile {
  std::vector<LoggedRound> rounds;  ///< in the file's order; empty when it holds totals
  PositionCounts counts;
};

/// What the text of a file holds, in one of four forms, told apart by the content:
///   rounds, CSV         "drafted,accepted" a line, with or without that header (columns in any order)
///   rounds, JSON lines  {"drafted": 5, "accepted": 3} or [5, 3] a line
///   totals, CSV         header "position,drafted,accepted": how many rounds drafted and kept each position
///   totals, Prometheus  vLLM's /metrics: vllm:spec_decode_num_drafts and
///                       vllm:spec_decode_num_accepted_tokens_per_pos, summed over engines,
///                       of the model_name `model`; UsageError when there are several and none is named
/// Throws UsageError naming file, line and value for what cannot be so, and for a file without rounds. Totals
/// must be of rounds of one length: with several, acceptance at a position cannot be told from length.
AcceptanceFile acceptance_in(const std::string& text, const std::string& file, const std::string& model = "");

/// The same of a file; ConfigError when it cannot be read.
AcceptanceFile read_acceptance(const std::string& file, const std::string& model = "");

}  // namespace speclab
