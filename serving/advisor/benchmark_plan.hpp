// The size of a benchmark: how many requests tell two settings apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "serving/queues/benchmark_size.hpp"

namespace speclab {

struct BenchmarkPlan {
  std::string what;   ///< words
  PerRequest first;   ///< of one setting
  PerRequest second;  ///< of the other
  double confidence = 0.95;
  double power = 0.8;
  double difference_percent = 0;  ///< of the means, over the smaller one
  double requests = 0;            ///< of each setting
  std::optional<double> asked_requests = {};
  std::optional<double> asked_finds_percent = {};  ///< the smallest difference that so many find
};

/// Fills in what follows from the first five members.
void finish(BenchmarkPlan& plan, std::optional<double> asked_requests);

template <>
const Typed<BenchmarkPlan>& described();

Listing benchmark_text(const BenchmarkPlan& plan);
std::string benchmark_headline(const BenchmarkPlan& plan);
std::vector<Figure> benchmark_figures(const BenchmarkPlan& plan);

}  // namespace speclab
