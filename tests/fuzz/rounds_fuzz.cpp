// Reads recorded rounds with confidences; accepted rounds must not accept more than they drafted, and their
// probabilities must be valid.
#include "serving/traces/confident_rounds.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace speclab;
  return refused_or_read([&] {
    const RecordedRounds recorded = read_confident_rounds(file_with(data, size, "rounds").string());
    double before = 0;
    for (const RecordedRounds::Round& round : *recorded.rounds) {
      if (round.accepted > round.confidences.size() || !(round.weight >= before)) std::abort();
      for (const float confidence : round.confidences) {
        if (!(confidence >= 0 && confidence <= 1)) std::abort();
      }
      before = round.weight;
    }
    if (before != 1) std::abort();
  });
}
