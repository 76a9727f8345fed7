// Reads recorded rounds, with the draft's confidence in each token.
#pragma once

#include <string>

#include "serving/server/acceptance_law.hpp"

namespace speclab {

/// Reads JSON lines such as {"accepted": 2, "confidences": [0.9, 0.8, 0.3], "weight": 1}: how many drafted
/// tokens were accepted, and for each drafted token the draft's probability that it is accepted given that
/// all before it are. Rounds without a weight count equally. Throws UsageError, naming the line and value.
RecordedRounds read_confident_rounds(const std::string& file);

}  // namespace speclab
