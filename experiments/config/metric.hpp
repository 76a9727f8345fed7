// The metrics: numbers that describe a cell.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/format/fields.hpp"

namespace speclab {

/// The metrics in the order of tables.
enum class Metric {
  alpha_overlap,
  alpha_examined,
  alpha_drafted,
  accepted_per_target_step,
  tokens_per_target_step,
  tokens_variance,
  first_token_acceptance,
  optimal_transport_bound,
  speedup,
  operations,
  memory_accesses,
  tv_to_target,
  regret,
  target_rows,
  identical_beams,
  optimal_gamma,
  best_speedup,
  upper_bound_drafting_free,
  upper_bound_drafting_paid,
  upper_bound_gain_drafting_free,
  upper_bound_gain_drafting_paid,
  tv_to_draft,
  perplexity,
  greedy_agreement,
  invalid_rows,
  percent_saved,
  calls_left,
  sampling_share,
  quotient,
  quoted,
  least_of,
  most_of,
  microseconds,
  megabytes,
  gb_per_s
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
