#include "experiments/base/page/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace speclab {

namespace {

std::string superscript(int exponent) {
  static constexpr std::array<const char*, 10> digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char digit : fmt::format("{}", std::abs(exponent)))
    text += digits.at(static_cast<std::size_t>(digit - '0'));
  return text;
}

std::vector<double> log_ticks(const AxisRange& range, int most) {
  const auto inside = [&](const std::vector<double>& steps, int stride) {
    std::vector<double> ticks;
    for (int decade = static_cast<int>(std::floor(std::log10(range.low))) - 1;
         decade <= static_cast<int>(std::ceil(std::log10(range.high))); ++decade) {
      if (stride > 1 && decade % stride != 0) continue;
      for (const double step : steps) {
        const double value = step * std::pow(10.0, decade);
        if (value >= range.low * (1 - 1e-9) && value <= range.high * (1 + 1e-9)) ticks.push_back(value);
      }
    }
    return ticks;
  };
  const auto fits = [&](const std::vector<double>& ticks) {
    return ticks.size() >= 2 && ticks.size() <= static_cast<std::size_t>(most);
  };
  for (const std::vector<double>& steps : {std::vector<double>{1, 2, 3, 4, 5, 6, 8}, {1, 2, 5}, {1, 3}}) {
    if (std::vector<double> ticks = inside(steps, 1); fits(ticks)) return ticks;
  }
  for (int stride = 1; stride < 64; ++stride) {
    if (std::vector<double> ticks = inside({1}, stride); ticks.size() <= static_cast<std::size_t>(most))
      return ticks;
  }
  return {};
}

std::vector<double> round_ticks(const Axis& axis, int most, bool whole) {
  const AxisRange& range = axis.range;
  if (axis.logarithmic) return log_ticks(range, most);
  const double span = range.high - range.low;
  double step = std::pow(10.0, std::floor(std::log10(span / most)));
  if (whole) step = std::max(step, 1.0);
  static constexpr std::array<double, 3> factors = {2, 2.5, 2};
  for (std::size_t turn = 0; span / step > most - 0.5; ++turn) step *= factors.at(turn % factors.size());
  if (whole) step = std::ceil(step);
  std::vector<double> ticks;
  for (double count = std::ceil(range.low / step - 1e-9); count * step <= range.high + 1e-9 * span; ++count)
    ticks.push_back(count == 0 ? 0 : count * step);
  return ticks;
}

}  // namespace

std::string tick_text(double value) {
  const double size = std::abs(value);
  if (value == 0) return "0";
  if (size >= 1e-4 && size < 1e5) return fmt::format("{:.6g}", value);
  const std::string written =
      fmt::format("{:.3g}", value / std::pow(10.0, std::floor(std::log10(size) + 1e-12)));
  const std::string power = "10" + superscript(static_cast<int>(std::floor(std::log10(size) + 1e-12)));
  return written == "1" ? power : written == "-1" ? "-" + power : written + "·" + power;
}

double Axis::place(double value) const {
  const double share = logarithmic ? std::log(value / range.low) / std::log(range.high / range.low)
                                   : (value - range.low) / (range.high - range.low);
  return from + share * (to - from);
}

bool apart(const AxisRange& range) {
  return range.high - range.low > 1e-9 * std::max(std::abs(range.low), std::abs(range.high));
}

AxisRange range_of(const std::vector<double>& values, bool logarithmic) {
  double low = INFINITY;
  double high = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(low <= high)) return logarithmic ? AxisRange{0.1, 1} : AxisRange{0, 1};
  constexpr double margin = 0.05;
  const bool one = !apart({low, high});
  if (logarithmic) {
    const double factor = one ? 2 : std::pow(high / low, margin);
    return {low / factor, high * factor};
  }
  if (one) {
    const double half = low == 0 ? 1 : std::abs(low) / 2;
    return {low - half, high + half};
  }
  constexpr double near_zero = 0.35;
  const bool from_zero = low >= 0 && low <= near_zero * high;
  const double room = margin * (high - (from_zero ? 0 : low));
  return {from_zero ? -(low == 0 ? room : 0) : low - room, high + room};
}

std::vector<double> ticks_of(const Axis& axis, int most, bool whole) {
  std::vector<double> ticks = round_ticks(axis, most, whole);
  if (axis.values.empty()) return ticks;
  std::erase_if(ticks, [&](double tick) {
    return std::none_of(axis.values.begin(), axis.values.end(), [tick](double value) {
      return !apart({std::min(tick, value), std::max(tick, value)});
    });
  });
  constexpr std::size_t enough = 3;
  if (ticks.size() >= enough) return ticks;
  ticks.clear();
  const double nearest = std::abs(axis.to - axis.from) / most * (1 - 1e-9);
  for (const double value : axis.values) {
    if (ticks.empty() || std::abs(axis.place(value) - axis.place(ticks.back())) >= nearest)
      ticks.push_back(value);
  }
  return ticks;
}

}  // namespace speclab
