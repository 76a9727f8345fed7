#include "experiments/bench/kernel_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/output.hpp"
#include "experiments/support/child_process.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/progress.hpp"
#include "experiments/version.hpp"
#include "kernels/gpu/device.hpp"

namespace speclab {

namespace {

constexpr const char* unknown = "unknown";

/// What the driver's own program says about clocks now; the CUDA runtime knows only the highest.
std::string clock_state() {
  const auto finished =
      run_program({"nvidia-smi",
                   "--query-gpu=name,driver_version,clocks.current.sm,clocks.current.memory,clocks.max.sm,"
                   "clocks.max.memory,temperature.gpu,power.draw",
                   "--format=csv"});
  if (!finished || finished->status != 0) return unknown;
  std::string text = finished->out;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Json device_json(const GpuDevice& device) {
  return {{"name", device.name},
          {"capability", fmt::format("{}.{}", device.capability / 10, device.capability % 10)},
          {"multiprocessors", device.multiprocessors},
          {"memory_bytes", device.memory_bytes},
          {"l2_bytes", device.l2_bytes},
          {"highest_clock_mhz", device.clock_mhz},
          {"highest_memory_clock_mhz", device.memory_clock_mhz},
          {"driver_cuda", device.driver},
          {"runtime_cuda", device.runtime}};
}

const BenchTimes* times_of(const BenchMeasurement& measured, const std::string& name) {
  for (const BenchTimes& times : measured.times) {
    if (times.name == name) return &times;
  }
  return nullptr;
}

double median_of(const BenchMeasurement& measured, const std::string& name) {
  const BenchTimes* const times = times_of(measured, name);
  return times == nullptr ? std::numeric_limits<double>::quiet_NaN() : median(times->seconds);
}

/// NaN is null.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

/// Bytes that a method moves.
double bytes_of(const BenchTask& task, const BenchTimes& times, const ImplementationInfo* info) {
  const BenchBytes bytes = bench_bytes(task.shape, {});
  if (info != nullptr) {
    return traffic_of(info->implementation, shape_batch(task.shape), times.accepted, times.rejecting).total();
  }
  if (times.name == ceiling::copy || times.name == ceiling::memcpy)
    return 2 * static_cast<double>(bytes.copied);
  if (times.name == ceiling::read) return static_cast<double>(bytes.logits());
  return 0;
}

const ImplementationInfo* info_of(const std::string& name) {
  for (const ImplementationInfo& info : implementations()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

/// Noise by vocabulary and alpha; each takes a moment to find.
class Noises {
 public:
  float at(const MadeLogits& how, std::int32_t vocab, double alpha) {
    const auto [found, added] = known_.try_emplace({vocab, alpha}, 0.0F);
    if (added) found->second = noise_for_overlap(how, vocab, alpha);
    return found->second;
  }

 private:
  std::map<std::pair<std::int32_t, double>, float> known_;
};

}  // namespace

double nearest_rank(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

Json verification_rows(const KernelPoint& point, const BenchTask& task, const BenchMeasurement& measured,
                       const MadeDistributions& distributions) {
  constexpr double micro = 1e6;
  const double copy_seconds =
      std::min(median_of(measured, ceiling::copy), median_of(measured, ceiling::memcpy));
  const double copy_rate = 2 * static_cast<double>(bench_bytes(task.shape, {}).copied) / copy_seconds;
  Json rows = Json::array();
  for (const BenchTimes& times : measured.times) {
    const ImplementationInfo* const info = info_of(times.name);
    const double seconds = median(times.seconds);
    const double bytes = bytes_of(task, times, info);
    const bool floor = times.name == ceiling::skip;
    Json row{{"requests", point.shape.requests},
             {"gamma", point.shape.gamma},
             {"vocab", point.shape.vocab},
             {"dtype", dtype_name(point.shape.dtype)},
             {"alpha", point.alpha},
             {"realised_alpha", distributions.overlap},
             {"accepted", info != nullptr ? Json(times.accepted)
                          : floor         ? Json(point.shape.gamma)
                                          : Json()},
             {"cache", task.flushed ? "flushed" : "hot"},
             {"method", times.name},
             {"kind", info != nullptr ? "implementation"
                      : floor         ? "floor"
                                      : "ceiling"},
             {"repetitions", times.seconds.size()},
             {"median_us", finite(micro * seconds)},
             {"p99_us", finite(micro * nearest_rank(times.seconds, 0.99))},
             {"bytes", bytes},
             {"gb_per_s", finite(bytes / seconds / 1e9)},
             {"of_copy", finite(bytes / seconds / copy_rate)}};
    for (const char* const other : {"baseline", "wagner-exact", "wagner-sigmoid"}) {
      row[fmt::format("times_{}", other)] =
          info != nullptr || floor ? finite(median_of(measured, other) / seconds) : Json();
    }
    row["total_variation"] = Json();
    if (floor) row["total_variation"] = 1 - distributions.overlap;
    if (info != nullptr) {
      if (const auto distance = output_distance(info->implementation, distributions))
        row["total_variation"] = *distance;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<Json> run_kernel_suite(const KernelSuiteOptions& options) {
  const GpuDevice device = current_device().value();
  const std::vector<KernelPoint> points = sweep_points(options.sweep);
  Json result{{"suite", "kernels"},
              {"kind", "measurement"},
              {"version", version_string()},
              {"machine", machine_description()},
              {"command", options.command},
              {"device", device_json(device)},
              {"clocks_before", clock_state()},
              {"repetitions", options.repetitions},
              {"verification", Json::array()},
              {"left_out", Json::array()},
              {"partial", false}};
  Noises noises;
  std::map<std::tuple<std::int32_t, Dtype, float>, MadeDistributions> distributions_of;
  int failures = 0;
  Progress progress("bench kernels", points.size() * options.flushed.size(), options.silent);
  for (const KernelPoint& point : points) {
    BenchTask task{point.shape, {}, {}, false, options.repetitions};
    const auto leave_out = [&](const char* method, const std::string& why) {
      result["left_out"].push_back({{"size", shape_text(point.shape)}, {"method", method}, {"why", why}});
    };
    for (const ImplementationInfo& info : options.implementations) {
      if (const auto why = unsupported_reason(info.implementation, shape_batch(point.shape))) {
        leave_out(info.name, *why);
      } else {
        task.implementations.push_back(info.implementation);
      }
    }
    // Some room for the driver, and for the buffer that flushes the cache.
    const double memory =
        0.95 * static_cast<double>(device.memory_bytes) - 2.0 * static_cast<double>(device.l2_bytes);
    const BenchBytes bytes = bench_bytes(point.shape, task.implementations);
    if (static_cast<double>(bytes.total()) > memory) {
      leave_out("all", fmt::format("needs {:.1f} GiB", static_cast<double>(bytes.total()) / std::exp2(30)));
      progress.advance(options.flushed.size());
      continue;
    }
    task.logits.noise = noises.at(task.logits, point.shape.vocab, point.alpha);
    const auto [found, added] =
        distributions_of.try_emplace({point.shape.vocab, point.shape.dtype, task.logits.noise});
    if (added)
      found->second = made_distributions(task.logits, point.shape.vocab, point.shape.dtype, VerifyRule{});
    const MadeDistributions& distributions = found->second;
    for (const bool flushed : options.flushed) {
      if (interrupted()) break;
      task.flushed = flushed;
      BenchMeasurement measured;
      try {
        measured = measure_on_gpu(task, [] { return interrupted(); });
      } catch (const std::runtime_error& error) {
        // What the points before have shown is not thrown away.
        ++failures;
        leave_out("all", error.what());
        progress.advance();
        continue;
      }
      if (interrupted()) break;
      for (Json& row : verification_rows(point, task, measured, distributions)) {
        result["verification"].push_back(std::move(row));
      }
      progress.advance();
    }
    if (!interrupted()) continue;
    if (result.at("verification").empty()) return std::nullopt;
    result["partial"] = true;
    break;
  }
  result["failures"] = failures;
  result["clocks_after"] = clock_state();
  return result;
}

}  // namespace speclab
