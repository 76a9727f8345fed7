// Rounds of speculative decoding as a server recorded them, with what the draft said of its tokens.
#pragma once

#include <string>

#include "serving/server/acceptance_law.hpp"

namespace speclab {

/// Of JSON lines {"accepted": 2, "confidences": [0.9, 0.8, 0.3], "weight": 1}: how many drafted tokens were
/// accepted, and of each the probability that the draft gave it to be accepted, given that those before it
/// are. Without a weight all rounds count alike. UsageError that names the line and the value.
RecordedRounds read_confident_rounds(const std::string& file);

}  // namespace speclab
