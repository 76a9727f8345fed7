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

/// A value's position on an axis: the grid points around it, and the fraction of the way from the first to
/// the second; above 1 after the last point.
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

/// Interpolates; beyond the last point only rising lines are extrapolated.
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
  std::vector<MeasuredPoint> sorted(points.begin(), points.end());
  const auto before = [](const MeasuredPoint& a, const MeasuredPoint& b) {
    return a.tokens != b.tokens ? a.tokens < b.tokens : a.batch < b.batch;
  };
  std::sort(sorted.begin(), sorted.end(), before);
  // Walks the grid without storing it: it may be as large as the square of the points.
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && !before(sorted[i - 1], sorted[i]))
      throw std::invalid_argument(place(sorted[i]) + ": measured twice");
    ms_.push_back(sorted[i].ms);
  }
  for (std::size_t i = 0; i < tokens_.size() * batches_.size(); ++i) {
    const MeasuredPoint needed{tokens_[i / batches_.size()], batches_[i % batches_.size()], 0};
    if (i == sorted.size() || before(needed, sorted[i])) {
      throw std::invalid_argument(place(needed) +
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
