// A number as somebody printed it: its value, and how far rounding may have moved it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/base/format/fields.hpp"

namespace speclab {

struct PrintedNumber {
  std::string text;      ///< as it was printed, without its unit
  double value = 0;      ///< that the text stands for
  double half_unit = 0;  ///< half a unit of its last digit; 0 of exact numbers

  operator double() const {
    return value;
  }  // NOLINT(google-explicit-constructor): formulas read like formulas
};

/// In JSON, text is a decimal that was rounded to its last digit ("2.10" stands for 2.095 to 2.105), or an
/// exact fraction ("10/9"); a number is exact, such as a count.
Typed<PrintedNumber> printed_number();
/// A list of them, which may be empty.
Typed<std::vector<PrintedNumber>> printed_numbers();

/// The printed numbers among the members of `object`, which `type` describes, in its order.
std::vector<PrintedNumber*> printed_members(const ObjectType& type, void* object);

/// What a formula says of a number: its value, or, where it only bounds the number, the values it allows.
struct Allowed {
  double least;
  double most;

  Allowed(double value) : least(value), most(value) {}  // NOLINT(google-explicit-constructor)
  Allowed(double smallest, double largest) : least(smallest), most(largest) {}
};

/// What a formula says for its inputs as printed, and for all numbers that round to them.
struct AllowedRange {
  Allowed as_printed;
  Allowed rounded;
};

/// `formula` reads `inputs`, which are varied within their half units and then hold their printed values
/// again. In each input the formula is monotone, in a direction that the other inputs do not change within
/// their half units, so that its extremes lie at corners.
AllowedRange allowed_range(const std::vector<PrintedNumber*>& inputs,
                           const std::function<Allowed()>& formula);

}  // namespace speclab
