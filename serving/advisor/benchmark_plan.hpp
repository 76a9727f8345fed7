// Plans the size of a benchmark: how many requests it takes to tell two settings apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/table.hpp"
#include "serving/queues/benchmark_size.hpp"

namespace speclab {

struct BenchmarkPlan {
  std::string what;   ///< the compared number, in words
  PerRequest first;   ///< numbers of one setting
  PerRequest second;  ///< numbers of the other setting
  double confidence = 0.95;
  double power = 0.8;
  double difference_percent = 0;  ///< difference of the means, relative to the smaller one
  double requests = 0;            ///< requests of each setting
  std::optional<double> asked_requests = {};
  /// Smallest difference that `asked_requests` requests find.
  std::optional<double> asked_finds_percent = {};
};

/// Computes the other members from the first five.
void finish(BenchmarkPlan& plan, std::optional<double> asked_requests);

template <>
const Typed<BenchmarkPlan>& described();

Listing benchmark_text(const BenchmarkPlan& plan);
std::string benchmark_headline(const BenchmarkPlan& plan);

}  // namespace speclab
