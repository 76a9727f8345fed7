// Reads recordings in every format; accepted ones must have log-probabilities, and sequences that cover them.
#include <cstdlib>

#include "experiments/recording/recording_file.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace speclab;
  return refused_or_read([&] {
    const std::string file = file_with(data, size, "recording");
    const Recording recording = read_recording(file, size % 2 == 0 ? file : "").recording;
    std::size_t covered = 0;
    for (const RecordedSequence& sequence : recording.sequences) covered += sequence.count;
    if (covered != recording.size() || covered == 0) std::abort();
    for (const double value : recording.target) {
      if (!(value <= 0)) std::abort();
    }
    for (const double value : recording.draft[0]) {
      if (!(value <= 0)) std::abort();
    }
  });
}
