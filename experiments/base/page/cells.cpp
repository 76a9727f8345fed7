#include "experiments/base/page/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace speclab {

std::string number_text(double value) {
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (std::floor(value) == value && size < 1e6) return fmt::format("{:.0f}", value);
  return size >= 0.001 && size < 1e6 ? fmt::format("{:.4g}", value) : fmt::format("{:.3e}", value);
}

std::string interval_text(const Interval& interval) {
  // Bounds are infinite with a single batch, and NaN after a round trip through a file.
  const double above = interval.high - interval.estimate;
  const double below = interval.estimate - interval.low;
  const double half = std::max(above, below);
  if (!std::isfinite(half)) return fmt::format("{} ± ?", number_text(interval.estimate));
  // Computed values, such as an overlap that is the same in every context, are exact except for rounding.
  constexpr double rounding = 1e-9;
  if (!(half > rounding * std::max(std::abs(interval.estimate), 1.0))) return number_text(interval.estimate);
  // Two digits of the half-width show how many digits of the estimate are significant.
  const int digits = std::clamp(1 - static_cast<int>(std::floor(std::log10(half))), 0, 9);
  // Ends at 0 or 1 are those of the possible values, beyond which no ± may lead.
  const double alike = interval.low == 0 || interval.high == 1 ? 0.999 : 0.9;
  if (std::min(above, below) >= alike * half)
    return fmt::format("{:.{}f} ± {:.{}f}", interval.estimate, digits, half, digits);
  return fmt::format("{:.{}f} +{:.{}f} −{:.{}f}", interval.estimate, digits, above, digits, below, digits);
}

namespace {

int confidence_digits(double confidence) {
  const double nines = std::clamp(-std::floor(std::log10(1 - confidence)), 0.0, 15.0);
  return std::max(6, static_cast<int>(nines) + 1);
}

}  // namespace

std::string confidence_text(double confidence) {
  return fmt::format("{:.{}g}", confidence, confidence_digits(confidence));
}

std::string confidence_percent(double confidence) {
  return fmt::format("{:.{}g}%", 100 * confidence, confidence_digits(confidence));
}

std::string digits_text(double value, int digits) {
  return value >= 1000 ? grouped(static_cast<std::uint64_t>(std::llround(value)))
                       : fmt::format("{:.{}g}", value, digits);
}

std::string printed_text(const Cell& cell) {
  const bool finite = !cell.sort_key || std::isfinite(*cell.sort_key);
  const auto has = [&](const char* word) { return cell.text.find(word) != std::string::npos; };
  return !finite && (has("nan") || has("inf")) ? "–" : cell.text;
}

Cell text_cell(std::string text) { return {std::move(text)}; }

Cell number_cell(const std::optional<double>& value) {
  return value ? Cell{number_text(*value), value} : Cell{};
}

Cell measured_cell(std::optional<double> value, int digits) {
  if (!value || !std::isfinite(*value)) return text_cell("-");
  return {digits_text(*value, digits), value};
}

Cell interval_cell(const std::optional<Interval>& interval) {
  return interval ? Cell{interval_text(*interval), interval->estimate} : Cell{};
}

std::string grouped(std::uint64_t number) {
  constexpr std::uint64_t group = 1000;
  if (number < group) return fmt::format("{}", number);
  return fmt::format("{},{:03}", grouped(number / group), number % group);
}

Cell count_cell(std::uint64_t count) { return {grouped(count), static_cast<double>(count)}; }

std::string titled(const std::string& what, const std::string& label) {
  return label.empty() ? what : fmt::format("{}: {}", label, what);
}

}  // namespace speclab
