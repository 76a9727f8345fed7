// Parses the command line of the fuzzers of verification, PROGRAM BATCHES [FIRST], and runs their loop over
// batches.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "tests/kernels/fuzz/fuzz_batch.hpp"

namespace speclab {

struct FuzzRange {
  std::uint64_t batches = 500;
  std::uint64_t first = 0;
};

/// Parses the arguments; ends the program if one is not a number.
inline FuzzRange fuzz_range(const char* program, int count, char** arguments) {
  const auto number_of = [program](const char* text) {
    std::uint64_t value = 0;
    const char* const end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error != std::errc{} || stop != end) {
      std::fprintf(stderr, "%s: \"%s\" is no number; usage: %s BATCHES [FIRST]\n", program, text, program);
      std::exit(2);
    }
    return value;
  };
  FuzzRange range;
  if (count > 1) range.batches = number_of(arguments[1]);
  if (count > 2) range.first = number_of(arguments[2]);
  return range;
}

/// Prints the result of `fault_of(batch, number)` for each batch, unless it is empty, and a digest of the
/// bits of all results, by which two builds are compared; returns how many batches had a fault.
template <class FaultOf>
std::uint64_t run_fuzz(const FuzzRange& range, const FaultOf& fault_of) {
  std::uint64_t faults = 0;
  std::uint64_t digest = 0xcbf29ce484222325U;
  for (std::uint64_t number = range.first; number < range.first + range.batches; ++number) {
    FuzzBatch fuzz(number);
    std::string fault;
    try {
      fault = fault_of(fuzz, number);
    } catch (const std::exception& error) {
      fault = error.what();
    }
    digest = fuzz.added_to(digest);
    if (fault.empty()) continue;
    ++faults;
    std::printf("batch %llu (%s): %s\n", static_cast<unsigned long long>(number), text_of(fuzz.how).c_str(),
                fault.c_str());
  }
  std::printf("digest of the results %016llx\n", static_cast<unsigned long long>(digest));
  return faults;
}

}  // namespace speclab
