// Numbers as they stand in tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/page/table.hpp"

namespace speclab {

/// What a column's unit stands for: MiB, GB.
inline constexpr double mebi = 1048576, giga = 1e9;

/// Four significant digits, in powers of ten below 0.001 and from a million on; "–" when not finite.
std::string number_text(double value);
/// "1.716 ± 0.012": as many digits as the half-width gives a meaning to; "0.990 +0.010 −0.027" where the
/// narrower side is less than 0.9 of the wider one; "?" for an error that is not known, and none below 1e-9,
/// which is rounding.
std::string interval_text(const Interval& interval);
/// "0.95" and "95%": six digits, or as many as tell the confidence from 1.
std::string confidence_text(double confidence);
std::string confidence_percent(double confidence);

/// `digits` significant digits, whole ones and groups of three above that: "0.125", "12,345".
std::string digits_text(double value, int digits);

Cell text_cell(std::string text);
/// Empty without a value.
Cell number_cell(const std::optional<double>& value);
Cell interval_cell(const std::optional<Interval>& interval);
/// By `digits_text`; "-" for what is not there or not finite.
Cell measured_cell(std::optional<double> value, int digits);
/// A whole number in groups of three digits: "262,144".
Cell count_cell(std::uint64_t count);
std::string grouped(std::uint64_t number);

/// "label: what", or `what` without a label.
std::string titled(const std::string& what, const std::string& label);

}  // namespace speclab
