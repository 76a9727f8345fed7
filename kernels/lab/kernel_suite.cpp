#include "kernels/lab/kernel_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/support/interrupt.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/progress.hpp"
#include "experiments/base/support/version.hpp"
#include "kernels/gpu/device.hpp"
#include "kernels/lab/expected_walks.hpp"
#include "kernels/lab/made_overlap.hpp"

namespace speclab {

namespace {

double median_of(const BenchMeasurement& measured, const std::string& name) {
  const BenchTimes* const times = find_named(measured.times, name);
  return times != nullptr ? median(times->seconds) : std::numeric_limits<double>::quiet_NaN();
}

/// Returns the number of batches that a point is measured with, each with its own seed.
int draws_at(const KernelPoint& point) {
  constexpr std::int32_t few_requests = 32;
  constexpr int draws_of_few = 5;
  return point.requests < few_requests ? draws_of_few : 1;
}

/// Returns the bytes that a method or a ceiling moves.
double bytes_of(const BenchTask& task, const BenchTimes& times, const BenchMethod* method) {
  const BenchBytes bytes = bench_bytes(task.shape, {});
  if (method != nullptr) return traffic_of(*method, shape_batch(task.shape), times.outcome).total();
  if (times.name == ceiling::copy || times.name == ceiling::memcpy)
    return 2 * static_cast<double>(bytes.copied);
  if (times.name == ceiling::read) return static_cast<double>(bytes.logits());
  return 0;
}

class KernelSuite {
 public:
  explicit KernelSuite(const KernelSuiteOptions& options)
      : options_(options),
        device_(current_device().value()),
        points_(sweep_points(options.sweep)),
        progress_("bench kernels", points_.size() * options.caches.size()) {
    report_.version = version_string();
    report_.machine = machine_description();
    report_.command = options.command;
    report_.device = device_;
    report_.repetitions = options.repetitions;
  }

  KernelReport run() && {
    for (const KernelPoint& point : points_) {
      measure(point);
      if (!interrupted()) continue;
      if (report_.verification.empty()) throw Stopped{};
      report_.partial = true;
      break;
    }
    return std::move(report_);
  }

 private:
  void leave_out(const KernelPoint& point, const char* method, const std::string& why) {
    report_.left_out.push_back({shape_text(point), method, why});
  }

  bool fits(const KernelPoint& point, const BenchTask& task) {
    // The driver uses some of the memory, and so does the buffer that flushes the cache.
    const double memory =
        0.95 * static_cast<double>(device_.memory_bytes) - 2.0 * static_cast<double>(device_.l2_bytes);
    const auto bytes = static_cast<double>(bench_bytes(point, task.methods).total());
    if (bytes > memory) leave_out(point, "all", fmt::format("needs {:.1f} GiB", bytes / std::exp2(30)));
    return bytes <= memory;
  }

  BenchMeasurement measure_draws(BenchTask task, int count) const {
    task.repetitions = (task.repetitions + count - 1) / count;
    std::vector<BenchMeasurement> draws;
    for (int draw = 0; draw < count; ++draw, ++task.logits.seed) {
      draws.push_back(measure_on_gpu(task, [] { return interrupted(); }));
      if (interrupted()) break;
    }
    return pooled_draws(std::move(draws));
  }

  void measure(const KernelPoint& point) {
    const KernelWorkloadInfo& workload = info_of(point.workload);
    BenchTask task;
    task.shape = point;
    task.logits.spread = workload.spread;
    task.repetitions = options_.repetitions;
    for (const BenchMethod& method : methods_for(point.workload, options_.methods)) {
      if (const auto why = unsupported_reason(method, shape_batch(point))) {
        leave_out(point, method.name, *why);
      } else {
        task.methods.push_back(method);
      }
    }
    if (task.methods.empty() || !fits(point, task)) {
      progress_.advance(options_.caches.size());
      return;
    }
    const auto [made, added] = made_.try_emplace({point.workload, point.vocab, point.dtype, point.alpha});
    auto& [noise, realised_alpha] = made->second;
    if (added) noise = noise_for_overlap(task.logits, point.vocab, point.alpha, workload.filters);
    task.logits.noise = noise;
    if (added) realised_alpha = made_overlap(task.logits, point.vocab, point.dtype, workload.filters);
    for (const CacheMode cache : options_.caches) {
      if (interrupted()) return;
      task.flushed = cache == CacheMode::flushed;
      try {
        task.marginal = cache == CacheMode::hot && draws_at(point) > 1;
        BenchMeasurement measured = measure_draws(task, draws_at(point));
        if (interrupted()) return;
        for (BenchTimes& times : measured.times) {
          if (times.replayed_otherwise > 0) {
            ++report_.failures;
            leave_out(
                point, times.name.c_str(),
                fmt::format(
                    "{} of {} requests have another result in the timed graph than in the launch before it: its times are left out",
                    times.replayed_otherwise, point.requests));
          }
          const BenchMethod* const method = find_named(task.methods, times.name);
          if (method == nullptr || method->path_tells()) continue;
          const double accepted = times.outcome.accepted;
          times.outcome = expectations_.at(*method, point);
          times.outcome.accepted = accepted;
        }
        for (VerificationRow& row : verification_rows(point, task, measured, realised_alpha)) {
          if (row.different > 0) {
            ++report_.failures;
            leave_out(
                point, row.method.c_str(),
                fmt::format("{} of {} requests were not decided as by the reference: its times are left out",
                            row.different, row.compared));
          }
          report_.verification.push_back(std::move(row));
        }
      } catch (const std::runtime_error& error) {
        // Results of earlier points are kept.
        ++report_.failures;
        leave_out(point, "all", error.what());
      }
      progress_.advance();
    }
  }

  const KernelSuiteOptions& options_;
  GpuDevice device_;
  std::vector<KernelPoint> points_;
  Progress progress_;
  KernelReport report_;
  Expectations expectations_;
  /// The noise and the overlap of made-up logits, by workload, vocabulary, format and alpha; they take a
  /// moment to compute.
  std::map<std::tuple<KernelWorkload, std::int32_t, Dtype, double>, std::pair<float, double>> made_;
};

}  // namespace

BenchMeasurement pooled_draws(std::vector<BenchMeasurement> draws) {
  if (draws.size() == 1) return std::move(draws.front());
  const double share = 1 / static_cast<double>(draws.size());
  BenchMeasurement pooled;
  pooled.clock_mhz = std::numeric_limits<double>::infinity();
  for (BenchMeasurement& draw : draws) {
    pooled.clock_mhz = std::min(pooled.clock_mhz, draw.clock_mhz);
    pooled.times.resize(draw.times.size());
    for (std::size_t at = 0; at < draw.times.size(); ++at) {
      const BenchTimes& one = draw.times[at];
      BenchTimes& all = pooled.times[at];
      all.name = one.name;
      all.seconds.insert(all.seconds.end(), one.seconds.begin(), one.seconds.end());
      all.draw_seconds.push_back(median(one.seconds));
      if (one.marginal_seconds)
        all.marginal_seconds = all.marginal_seconds.value_or(0) + share * *one.marginal_seconds;
      all.outcome.add(one.outcome, share);
      all.outcome.accepted += share * one.outcome.accepted;
      all.decisions += one.decisions;
      all.replayed_otherwise += one.replayed_otherwise;
    }
  }
  return pooled;
}

double nearest_rank(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(values);
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

std::vector<VerificationRow> verification_rows(const KernelPoint& point, const BenchTask& task,
                                               const BenchMeasurement& measured, double realised_alpha) {
  constexpr double micro = 1e6;
  const double copy_seconds =
      std::min(median_of(measured, ceiling::copy), median_of(measured, ceiling::memcpy));
  const double copy_rate = 2 * static_cast<double>(bench_bytes(task.shape, {}).copied) / copy_seconds;
  std::vector<VerificationRow> rows;
  for (const BenchTimes& times : measured.times) {
    const BenchMethod* const method = find_named(task.methods, times.name);
    const double seconds = median(times.seconds);
    VerificationRow& row = rows.emplace_back();
    static_cast<KernelPoint&>(row) = point;
    row.realised_alpha = realised_alpha;
    row.cache = task.flushed ? CacheMode::flushed : CacheMode::hot;
    row.method = times.name;
    row.kind = method != nullptr ? MethodKind::implementation : MethodKind::ceiling;
    row.repetitions = times.seconds.size();
    row.median_us = micro * seconds;
    row.p99_us = micro * nearest_rank(times.seconds, 0.99);
    row.clock_mhz = measured.clock_mhz;
    if (times.marginal_seconds) row.marginal_us = micro * *times.marginal_seconds;
    if (!times.draw_seconds.empty()) {
      const auto [fastest, slowest] = std::ranges::minmax_element(times.draw_seconds);
      row.draws = static_cast<int>(times.draw_seconds.size());
      row.fastest_draw_us = micro * *fastest;
      row.slowest_draw_us = micro * *slowest;
    }
    row.bytes = bytes_of(task, times, method);
    row.gb_per_s = row.bytes / seconds / 1e9;
    row.of_copy = row.bytes / seconds / copy_rate;
    if (times.replayed_otherwise > 0 || times.decisions.different > 0) {
      // The times of a method that does something else than it should say nothing.
      row.median_us = row.p99_us = row.gb_per_s = row.of_copy = NAN;
      row.marginal_us = row.fastest_draw_us = row.slowest_draw_us = std::nullopt;
    }
    if (method == nullptr) continue;
    row.accepted = times.outcome.accepted;
    row.compared = times.decisions.requests;
    row.different = times.decisions.different;
  }
  return rows;
}

KernelReport run_kernel_suite(const KernelSuiteOptions& options) { return KernelSuite(options).run(); }

}  // namespace speclab
