// The formulas that judge printed numbers; each is a short entry in checks/.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/base/format/family.hpp"
#include "experiments/verify/claims/printed_number.hpp"

namespace speclab {

/// A formula, whose inputs are printed numbers.
struct ClaimCheck : KindInfo {
  struct Common {};
  std::string formula;     ///< as pages show it
  std::string assumption;  ///< assumption beyond arithmetic; empty if there is none
  /// Computes the range that the formula allows. Throws ConfigError at `selected.path` for contradictory
  /// inputs, or if the formula has no value.
  std::function<AllowedRange(const SelectedKind& selected)> range;
};

using ClaimCheckConfig = Selected<ClaimCheck>;

/// Returns the family of all checks; tests and other programs may add some.
Family<ClaimCheck>& claim_check_family();

/// Computes the range that `formula` allows. Throws ConfigError at `path` if it has no value.
AllowedRange checked_range(const std::vector<PrintedNumber*>& inputs, const std::function<Allowed()>& formula,
                           const std::string& path);

/// Returns a check with inputs P. `formula(inputs)` returns an Allowed or a double; for contradictory inputs
/// it throws std::invalid_argument, whose message is a sentence without its end.
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

/// Describe a required input: a number, or a list.
template <class P>
Field input(std::string_view name, PrintedNumber P::*member, std::string_view sentence) {
  return required(field(name, member, printed_number(), sentence));
}
template <class P>
Field input(std::string_view name, std::vector<PrintedNumber> P::*member, std::string_view sentence) {
  return required(field(name, member, printed_numbers(), sentence));
}

double sum_of(const std::vector<PrintedNumber>& numbers);
/// Returns the mean. Throws std::invalid_argument for an empty list.
double mean_of(const std::vector<PrintedNumber>& numbers);

}  // namespace speclab
