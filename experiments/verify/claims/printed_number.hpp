// A printed number: its value, and how far rounding may have moved it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/base/format/fields.hpp"

namespace speclab {

struct PrintedNumber {
  std::string text;      ///< as it was printed, without its unit
  double value = 0;      ///< value of the text
  double half_unit = 0;  ///< half a unit of its last digit; 0 for exact numbers

  operator double() const {
    return value;
  }  // NOLINT(google-explicit-constructor): formulas read like formulas
};

/// Describes a printed number. JSON text is a decimal rounded to its last digit ("2.10" stands for 2.095 to
/// 2.105) or an exact fraction ("10/9"); a JSON number, such as a count, is exact.
Typed<PrintedNumber> printed_number();
/// Describes a list of printed numbers, which may be empty.
Typed<std::vector<PrintedNumber>> printed_numbers();

/// Returns the printed numbers among the members of `object`, in the order of its type.
std::vector<PrintedNumber*> printed_members(const ObjectType& type, void* object);

/// The values that a formula allows: one, or an interval if it only bounds the number.
struct Allowed {
  double least;
  double most;

  Allowed(double value) : least(value), most(value) {}  // NOLINT(google-explicit-constructor)
  Allowed(double smallest, double largest) : least(smallest), most(largest) {}
};

/// The values that a formula allows for the inputs as printed, and for all inputs that round to them.
struct AllowedRange {
  Allowed as_printed;
  Allowed rounded;
};

/// Computes the range of `formula`, which reads `inputs`: varies them within their half units, then restores
/// them. The formula must be monotone in each input, in a direction that the other inputs do not change
/// within their half units, so that extremes lie at corners.
AllowedRange allowed_range(const std::vector<PrintedNumber*>& inputs,
                           const std::function<Allowed()>& formula);

}  // namespace speclab
