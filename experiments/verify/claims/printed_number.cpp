#include "experiments/verify/claims/printed_number.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/exact/rational.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/half_unit.hpp"
#include "experiments/verify/prove/proof_task.hpp"

namespace speclab {

namespace {

class PrintedNumberType final : public Type {
 public:
  void read(const Json& json, const std::string& path, void* value) const override {
    auto& number = *static_cast<PrintedNumber*>(value);
    if (json.is_number()) {
      number = {json.dump(), json.get<double>(), 0};
      return;
    }
    if (!json.is_string()) reject(path, json, words());
    const auto text = json.get<std::string>();
    const std::string digits = text.starts_with('-') ? text.substr(1) : text;
    const auto exact =
        digits.find_first_not_of("0123456789./") == std::string::npos ? parse_rational(digits) : std::nullopt;
    if (!exact) reject(path, json, words());
    const double size = static_cast<double>(*exact);
    number = {text, text.starts_with('-') ? -size : size, 0};
    if (text.find('/') == std::string::npos) number.half_unit = half_unit_of(text);
  }
  void write(const void* value, Json& json) const override {
    const auto& number = *static_cast<const PrintedNumber*>(value);
    if (number.half_unit > 0 || number.text.find('/') != std::string::npos) {
      json = number.text;
    } else {
      json = Json::parse(number.text);
    }
  }
  std::string words() const override {
    return "a decimal or fraction as text (\"2.10\", \"10/9\"), or an exact number";
  }
  void schema(Json& out) const override { out["type"] = Json::array({"string", "number"}); }
};

/// Moves an input to an end of the interval that rounds to it.
void move(PrintedNumber& input, double centre, int side) { input.value = centre + side * input.half_unit; }

}  // namespace

Typed<PrintedNumber> printed_number() {
  static const Typed<PrintedNumber> type{std::make_shared<PrintedNumberType>()};
  return type;
}

Typed<std::vector<PrintedNumber>> printed_numbers() {
  constexpr double max_numbers = 1000;
  static const auto type = list(printed_number(), 0, max_numbers);
  return type;
}

std::vector<PrintedNumber*> printed_members(const ObjectType& type, void* object) {
  std::vector<PrintedNumber*> found;
  for (const Field& field : type.fields()) {
    void* const member = field.at(object);
    if (member == nullptr) continue;
    if (field.type == printed_number().type) {
      found.push_back(static_cast<PrintedNumber*>(member));
    } else if (field.type == printed_numbers().type) {
      for (PrintedNumber& one : *static_cast<std::vector<PrintedNumber>*>(member)) found.push_back(&one);
    }
  }
  return found;
}

AllowedRange allowed_range(const std::vector<PrintedNumber*>& inputs,
                           const std::function<Allowed()>& formula) {
  const Allowed as_printed = formula();
  std::vector<double> centres;
  std::vector<int> towards_least, towards_most;
  for (PrintedNumber* input : inputs) {
    const double centre = input->value;
    move(*input, centre, -1);
    const Allowed below = formula();
    move(*input, centre, 1);
    const Allowed above = formula();
    input->value = centre;
    centres.push_back(centre);
    towards_least.push_back(below.least <= above.least ? -1 : 1);
    towards_most.push_back(below.most >= above.most ? -1 : 1);
  }
  const auto at = [&](const std::vector<int>& sides) {
    for (std::size_t i = 0; i < inputs.size(); ++i) move(*inputs[i], centres[i], sides[i]);
    const Allowed found = formula();
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i]->value = centres[i];
    return found;
  };
  const double least = at(towards_least).least;
  const double most = at(towards_most).most;
  return {as_printed, {std::min(least, as_printed.least), std::max(most, as_printed.most)}};
}

}  // namespace speclab
