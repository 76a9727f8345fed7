// Reads a page of metrics in Prometheus's text format (prometheus.io/docs/instrumenting/exposition_formats).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "serving/advisor/log_source.hpp"

namespace speclab {

/// The metric's name, its labels and its value.
struct PrometheusSample {
  TextLine line;
  std::string name;
  std::map<std::string, std::string> labels;
  std::string value;

  std::string label(const char* key) const;
};

/// Returns the samples whose name is `prefix...`. "_total" at the end of a name is removed, because libraries
/// differ in it. From counters (names not in `gauges`), the values of the earlier page in the source's
/// options are subtracted. Throws UsageError if a counter has fallen since, as it does when a server is
/// restarted.
std::vector<PrometheusSample> prometheus_samples(const LogSource& source, std::string_view prefix,
                                                 const std::vector<std::string>& gauges = {});

/// Returns a count, which pages print as a floating-point number.
std::uint64_t counter_of(const PrometheusSample& sample);

/// Returns the reason why a file is no such page: it has no sample of that name. Empty if it has one.
std::string no_sample(const LogSource& source, std::string_view name);

}  // namespace speclab
