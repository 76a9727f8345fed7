#include "experiments/base/format/interval_fields.hpp"

#include "experiments/base/format/result_fields.hpp"

namespace speclab {

template <>
const Typed<Interval>& described() {
  static const auto type = result_object<Interval>(
      "interval", {{"value", &Interval::estimate}, {"low", &Interval::low}, {"high", &Interval::high}});
  return type;
}

}  // namespace speclab
