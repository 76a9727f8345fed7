#include "analysis/cost/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace speclab {

namespace {

std::string plain(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string place(const MeasuredPoint& point) {
  return "tokens " + plain(point.tokens) + ", batch " + plain(point.batch);
}

std::vector<double> distinct(std::span<const MeasuredPoint> points, double MeasuredPoint::*axis) {
  std::vector<double> values;
  for (const MeasuredPoint& point : points) values.push_back(point.*axis);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::size_t index_of(const std::vector<double>& values, double value) {
  return static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), value) - values.begin());
}

/// Between which points of an axis a value lies, and how far from the first to the second; beyond 1 after the
/// last point.
struct Place {
  std::size_t low;
  std::size_t high;
  double share;
};

Place locate(const std::vector<double>& axis, double value) {
  if (axis.size() == 1 || value <= axis.front()) return {0, 0, 0};
  const std::size_t high = std::min(std::max<std::size_t>(index_of(axis, value), 1), axis.size() - 1);
  return {high - 1, high, (value - axis[high - 1]) / (axis[high] - axis[high - 1])};
}

/// Beyond the last point only rising lines go on.
double between(double low, double high, double share) {
  return share > 1 ? high + std::max(high - low, 0.0) * (share - 1) : low + (high - low) * share;
}

}  // namespace

MeasuredCost::MeasuredCost(std::span<const MeasuredPoint> points) {
  if (points.empty()) throw std::invalid_argument("no measured times");
  for (const MeasuredPoint& point : points) {
    if (!(point.tokens >= 1 && point.batch >= 1 && point.ms > 0 && std::isfinite(point.ms))) {
      throw std::invalid_argument(place(point) + ", ms " + plain(point.ms) +
                                  ": tokens and batch must be 1 or more, ms above 0");
    }
  }
  tokens_ = distinct(points, &MeasuredPoint::tokens);
  batches_ = distinct(points, &MeasuredPoint::batch);
  ms_.assign(tokens_.size() * batches_.size(), 0);
  for (const MeasuredPoint& point : points) {
    double& cell = ms_[index_of(tokens_, point.tokens) * batches_.size() + index_of(batches_, point.batch)];
    if (cell != 0) throw std::invalid_argument(place(point) + ": measured twice");
    cell = point.ms;
  }
  for (std::size_t i = 0; i < ms_.size(); ++i) {
    if (ms_[i] == 0) {
      throw std::invalid_argument(place({tokens_[i / batches_.size()], batches_[i % batches_.size()], 0}) +
                                  ": missing; times are needed for every pair of tokens and batch");
    }
  }
}

double MeasuredCost::ms(double tokens, double batch) const {
  const Place row = locate(tokens_, tokens);
  const Place column = locate(batches_, batch);
  const auto along = [&](std::size_t i) {
    const double* values = ms_.data() + i * batches_.size();
    return between(values[column.low], values[column.high], column.share);
  };
  return between(along(row.low), along(row.high), row.share);
}

double run_ms(const CostModel& cost, const Run& run) {
  struct Visitor {
    const Run& run;
    double operator()(const ConstantCost& constant) const { return constant.ms; }
    double operator()(const MeasuredCost& measured) const { return measured.ms(run.tokens, run.batch); }
    double operator()(const RooflineCost& roofline) const {
      return 1000 * run_time(roofline.machine, roofline.model, run).total();
    }
  };
  return std::visit(Visitor{run}, cost);
}

}  // namespace speclab
