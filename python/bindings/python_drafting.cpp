#include "python/bindings/python_drafting.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <cstdint>

#include "experiments/catalog/models/model_kind.hpp"

namespace speclab::python {

void PythonDrafter::Seen::count() {
  if (++runs <= 2 * max_runs) return;
  raise(PyExc_ValueError,
        fmt::format("max_branches: the drafter was run more than {} times; lower gamma or the vocabulary, or "
                    "raise max_branches",
                    max_runs));
}

template <class Real>
std::pair<std::vector<Token>, std::vector<std::vector<Real>>> PythonDrafter::checked(
    nb::handle returned, std::int32_t most, std::int32_t vocab) const {
  const auto wanted = [&] {
    return fmt::format(
        "{}: returned {}; a drafter returns (drafted, rows), at most {} ids from 0 to {} and for each the row from which it was drawn",
        name_, nb::cast<std::string>(nb::repr(returned)), most, vocab - 1);
  };
  if (!nb::isinstance<nb::tuple>(returned) || nb::len(returned) != 2) raise(PyExc_TypeError, wanted());
  const auto pair = nb::borrow<nb::tuple>(returned);
  const nb::object drafted = nb::steal(PySequence_List(nb::handle(pair[0]).ptr()));
  const nb::object rows = nb::steal(PySequence_List(nb::handle(pair[1]).ptr()));
  if (!drafted.is_valid() || !rows.is_valid()) {
    clear_error();
    raise(PyExc_TypeError, wanted());
  }
  std::pair<std::vector<Token>, std::vector<std::vector<Real>>> checked;
  for (const nb::handle entry : nb::borrow<nb::list>(drafted)) {
    const nb::object number = nb::steal(PyNumber_Index(entry.ptr()));
    const std::int64_t id = number.is_valid() ? PyLong_AsLongLong(number.ptr()) : -1;
    if (PyErr_Occurred() != nullptr) {
      clear_error();
      raise(PyExc_TypeError, wanted());
    }
    if (id < 0 || id >= vocab) raise(PyExc_ValueError, wanted());
    checked.first.push_back(static_cast<Token>(id));
  }
  if (std::ssize(checked.first) > most || nb::len(rows) != checked.first.size())
    raise(PyExc_ValueError, wanted());
  for (const nb::handle given : nb::borrow<nb::list>(rows)) {
    const std::string what = fmt::format("{}: row {}", name_, checked.second.size());
    std::vector<Real> row = weights_of<Real>(given, what);
    Real total{0};
    for (const Real& weight : row) total += weight;
    if (std::ssize(row) != vocab || !(std::abs(static_cast<double>(total) - 1) <= row_tolerance)) {
      raise(PyExc_ValueError, fmt::format("{}: {} weights of sum {}; expected {} probabilities", what,
                                          row.size(), static_cast<double>(total), vocab));
    }
    for (Real& weight : row) weight /= total;
    checked.second.push_back(std::move(row));
  }
  return checked;
}
template std::pair<std::vector<Token>, std::vector<std::vector<double>>> PythonDrafter::checked(
    nb::handle, std::int32_t, std::int32_t) const;
template std::pair<std::vector<Token>, std::vector<std::vector<Rational>>> PythonDrafter::checked(
    nb::handle, std::int32_t, std::int32_t) const;

}  // namespace speclab::python
