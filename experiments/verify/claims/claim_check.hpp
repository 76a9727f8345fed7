// The formulas that judge printed numbers: an entry of a few lines each in checks/.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/base/format/family.hpp"
#include "experiments/verify/claims/printed_number.hpp"

namespace speclab {

/// A formula with its printed inputs.
struct ClaimCheck : KindInfo {
  struct Common {};
  std::string formula;     ///< as it stands on a page
  std::string assumption;  ///< that the formula rests on beyond arithmetic; empty for none
  /// ConfigError at `selected.path` for inputs that contradict one another or have no value.
  std::function<AllowedRange(const SelectedKind& selected)> range;
};

using ClaimCheckConfig = Selected<ClaimCheck>;

/// Every check; tests and other programs may add some.
Family<ClaimCheck>& claim_check_family();

/// Throws ConfigError at `path` where the formula has no value.
AllowedRange checked_range(const std::vector<PrintedNumber*>& inputs, const std::function<Allowed()>& formula,
                           const std::string& path);

/// A check of inputs P. `formula(inputs)` throws std::invalid_argument for inputs that contradict one
/// another, with what is wrong as a sentence without its end; it gives an Allowed, or a double.
template <class P, class Formula>
ClaimCheck claim_check(std::string_view name, std::string_view sentence, std::vector<Field> fields,
                       std::string_view text, Formula formula, std::string_view assumption = "") {
  ClaimCheck check;
  check.parameters = object<P>(name, sentence, std::move(fields)).type;
  check.name = name;
  check.sentence = sentence;
  check.formula = text;
  check.assumption = assumption;
  check.range = [formula, type = check.parameters](const SelectedKind& selected) {
    P own = selected.as<P>();
    return checked_range(
        printed_members(*type->object(), &own), [&] { return formula(own); }, selected.path);
  };
  return check;
}

/// A required input, and a required list of them.
template <class P>
Field input(std::string_view name, PrintedNumber P::*member, std::string_view sentence) {
  return required(field(name, member, printed_number(), sentence));
}
template <class P>
Field input(std::string_view name, std::vector<PrintedNumber> P::*member, std::string_view sentence) {
  return required(field(name, member, printed_numbers(), sentence));
}

double sum_of(const std::vector<PrintedNumber>& numbers);
/// Throws std::invalid_argument for an empty list.
double mean_of(const std::vector<PrintedNumber>& numbers);

}  // namespace speclab
