// The metrics: numbers that describe a cell.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/format/fields.hpp"

namespace speclab {

// The metrics in the order of tables: name in configs and results, label in tables and on axes.
// clang-format off
#define SPECLAB_METRICS(ENTRY) \
  ENTRY(alpha_overlap, "α (contexts)") \
  ENTRY(alpha_examined, "α (examined)") \
  ENTRY(alpha_drafted, "accepted / drafted") \
  ENTRY(accepted_per_target_step, "accepted per target step") \
  ENTRY(tokens_per_target_step, "tokens per target step") \
  ENTRY(tokens_variance, "variance of tokens per target step") \
  ENTRY(first_token_acceptance, "first-token acceptance") \
  ENTRY(optimal_transport_bound, "optimal transport bound") \
  ENTRY(speedup, "speedup") \
  ENTRY(operations, "arithmetic vs plain decoding") \
  ENTRY(memory_accesses, "memory accesses vs plain decoding") \
  ENTRY(tv_to_target, "TV to target") \
  ENTRY(regret, "regret") \
  ENTRY(target_rows, "target rows vs plain decoding") \
  ENTRY(identical_beams, "share of identical beams") \
  ENTRY(optimal_gamma, "optimal γ") \
  ENTRY(best_speedup, "speedup at optimal γ") \
  ENTRY(upper_bound_drafting_free, "upper bound on speedup, drafting free") \
  ENTRY(upper_bound_drafting_paid, "upper bound on speedup, drafting paid") \
  ENTRY(upper_bound_gain_drafting_free, "gain of the upper bound, drafting free") \
  ENTRY(upper_bound_gain_drafting_paid, "gain of the upper bound, drafting paid") \
  ENTRY(tv_to_draft, "TV to draft") \
  ENTRY(perplexity, "perplexity under the target") \
  ENTRY(greedy_agreement, "likeliest token is the target's") \
  ENTRY(invalid_rows, "share of invalid rows") \
  ENTRY(percent_saved, "Δ%") \
  ENTRY(calls_left, "share of calls left") \
  ENTRY(sampling_share, "share of sampling in a decoding step") \
  ENTRY(quotient, "quotient") \
  ENTRY(quoted, "value quoted") \
  ENTRY(least_of, "least") \
  ENTRY(most_of, "most") \
  ENTRY(microseconds, "time of a call, µs") \
  ENTRY(megabytes, "size, MB") \
  ENTRY(gb_per_s, "bandwidth, GB/s")
// clang-format on

enum class Metric {
#define SPECLAB_METRIC_NAME(name, label) name,
  SPECLAB_METRICS(SPECLAB_METRIC_NAME)
#undef SPECLAB_METRIC_NAME
};

struct MetricInfo {
  Metric metric;
  std::string name;   ///< in configs and results
  const char* label;  ///< in tables and on axes
};

const std::vector<MetricInfo>& metric_infos();
const std::string& metric_name(Metric metric);
const char* metric_label(Metric metric);
/// Returns the metric with this name; empty if there is none.
std::optional<Metric> metric_named(std::string_view name);

/// Returns the metric with this name; throws ConfigError at `path` if there is none.
Metric known_metric(std::string_view name, const std::string& path = "/");

/// Convert metrics to keys of maps and back.
inline const std::string& key_text(Metric metric) { return metric_name(metric); }
inline void read_key(const std::string& text, Metric& metric) { metric = known_metric(text); }

/// Describes a metric, by its name.
const Typed<Metric>& metric_type();

/// Values by metric, in the order of `Metric`.
template <class T>
using ByMetric = std::vector<std::pair<Metric, T>>;

template <class T>
std::optional<T> value_of(const ByMetric<T>& values, Metric metric) {
  const T* found = find(values, metric);
  return found != nullptr ? std::optional<T>(*found) : std::nullopt;
}

/// Removes a metric.
template <class T>
void leave_out(ByMetric<T>& all, Metric metric) {
  std::erase_if(all, [&](const auto& one) { return one.first == metric; });
}

/// Describes an object whose keys are metrics.
template <class T>
Typed<ByMetric<T>> by_metric(const Typed<T>& element) {
  return {detail::map_type(element.type, detail::map_access<ByMetric<T>>())};
}

}  // namespace speclab
