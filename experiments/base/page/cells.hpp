// Formats numbers for tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/page/table.hpp"

namespace speclab {

/// The factors of the units MiB and GB.
inline constexpr double mebi = 1048576, giga = 1e9;

/// Formats a number with four significant digits, in powers of ten below 0.001 and from a million on; "–" if
/// it is not finite.
std::string number_text(double value);
/// Formats an interval with the digits that its half-width justifies: "1.716 ± 0.012", or "0.990 +0.010
/// −0.027" if the narrower side is less than 0.9 of the wider one, or an end is 0 or 1, as of a share. Prints
/// "?" for an unknown error, and no error below 1e-9, which is rounding.
std::string interval_text(const Interval& interval);
/// Format a confidence as "0.95" and "95%": with six digits, or as many as distinguish it from 1.
std::string confidence_text(double confidence);
std::string confidence_percent(double confidence);

/// Formats a number with `digits` significant digits; from 1,000 on it is rounded to a whole number, in
/// groups of three digits: "0.125", "12,345".
std::string digits_text(double value, int digits);

Cell text_cell(std::string text);
/// Returns an empty cell if there is no value.
Cell number_cell(const std::optional<double>& value);
Cell interval_cell(const std::optional<Interval>& interval);
/// Formats the value by `digits_text`; "-" if it is missing or not finite.
Cell measured_cell(std::optional<double> value, int digits);
/// Formats a whole number in groups of three digits: "262,144".
Cell count_cell(std::uint64_t count);
std::string grouped(std::uint64_t number);

/// Returns "label: what", or `what` if the label is empty.
std::string titled(const std::string& what, const std::string& label);

}  // namespace speclab
