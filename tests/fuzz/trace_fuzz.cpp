// Reads recorded requests of servers; accepted traces must begin at 0, go forward in time, and have tokens.
#include <cmath>

#include "serving/traces/arrival_trace.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace speclab;
  return refused_or_read([&] {
    const Trace trace = read_trace(file_with(data, size, "trace").string());
    if (trace.size() < 2 || trace.front().arrival_ms != 0) std::abort();
    double before = 0;
    for (const Request& request : trace) {
      if (!(request.arrival_ms >= before) || !std::isfinite(request.arrival_ms)) std::abort();
      if (request.prompt == 0 || request.output == 0) std::abort();
      before = request.arrival_ms;
    }
  });
}
