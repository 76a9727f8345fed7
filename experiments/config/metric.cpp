#include "experiments/config/metric.hpp"

#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"

namespace speclab {

namespace {

const MetricInfo& info(Metric metric) { return metric_infos()[static_cast<std::size_t>(metric)]; }

}  // namespace

const std::vector<MetricInfo>& metric_infos() {
#define SPECLAB_METRIC_INFO(name, label) {Metric::name, #name, label},
  static const std::vector<MetricInfo> all{SPECLAB_METRICS(SPECLAB_METRIC_INFO)};
#undef SPECLAB_METRIC_INFO
  return all;
}

const std::string& metric_name(Metric metric) { return info(metric).name; }
const char* metric_label(Metric metric) { return info(metric).label; }

std::optional<Metric> metric_named(std::string_view name) {
  const MetricInfo* const found = find_named(metric_infos(), name);
  return found != nullptr ? std::optional(found->metric) : std::nullopt;
}

Metric known_metric(std::string_view name, const std::string& path) {
  const auto unknown = [&](const std::string& near) {
    return ConfigError(path, "unknown metric \"{}\"{}", name, near);
  };
  return named_entry(metric_infos(), std::string(name), unknown).metric;
}

const Typed<Metric>& metric_type() {
  static const Typed<Metric> type = [] {
    std::vector<std::pair<std::string_view, Metric>> names;
    for (const MetricInfo& one : metric_infos()) names.emplace_back(one.name, one.metric);
    return choice<Metric>(names);
  }();
  return type;
}

}  // namespace speclab
