// Reads metrics in Prometheus's text format (prometheus.io/docs/instrumenting/exposition_formats).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "serving/advisor/log_source.hpp"

namespace speclab {

/// One value, with its metric's name and labels.
struct PrometheusSample {
  TextLine line;
  std::string name;
  std::map<std::string, std::string> labels;
  std::string value;

  std::string label(const char* key) const;
};

/// Returns the samples whose name begins with `prefix`. Drops a final "_total" from names, because only some
/// libraries write it. Subtracts the earlier page (LogOptions) from counters, which are all names but
/// `gauges` and `setting`. Throws UsageError if the earlier page has other counters or another setting, or if
/// a counter has fallen or was created anew: the server was started again.
std::vector<PrometheusSample> prometheus_samples(const LogSource& source, std::string_view prefix,
                                                 const std::vector<std::string>& gauges = {},
                                                 std::string_view setting = {});

/// Returns a count, which pages print as a floating-point number.
std::uint64_t counter_of(const PrometheusSample& sample);

/// Returns true if a page has a sample of that name, or a comment about it.
bool has_sample(const LogSource& source, std::string_view name);

}  // namespace speclab
