#include "python/bindings/numbers.hpp"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>

namespace speclab::python {

namespace {

std::string name_of_type(nb::handle value) { return nb::cast<std::string>(value.type().attr("__name__")); }

/// Python makes no object of too many digits, or when it is interrupted.
nb::object checked(PyObject* made) {
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

std::string text_of(nb::handle value) { return nb::cast<std::string>(checked(PyObject_Str(value.ptr()))); }

nb::object python_int(const std::string& digits) {
  return checked(PyLong_FromString(digits.c_str(), nullptr, 10));
}

/// fractions.Fraction, numpy and numpy.bool_, set by `import_for_numbers`. They are never released, since
/// modules are released when the interpreter ends.
nb::handle fraction_type;
nb::handle numpy;
nb::handle numpy_bool;

nb::object read_only(nb::object array) {
  array.attr("flags").attr("writeable") = false;
  return array;
}

}  // namespace

void import_for_numbers() {
  fraction_type = nb::object(nb::module_::import_("fractions").attr("Fraction")).release();
  numpy = nb::module_::import_("numpy").release();
  numpy_bool = nb::object(numpy.attr("bool_")).release();
}

void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

void clear_error() {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();
  PyErr_Clear();
}

HeldObject::HeldObject(nb::object object)
    : object_(new nb::object(std::move(object)), [](nb::object* held) {
        const nb::gil_scoped_acquire gil;
        delete held;
      }) {}

bool is_bool(nb::handle value) {
  return PyBool_Check(value.ptr()) ||
         PyObject_TypeCheck(value.ptr(), reinterpret_cast<PyTypeObject*>(numpy_bool.ptr()));
}

template <>
double number_of(nb::handle value, const std::string& name) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    clear_error();
    raise(PyExc_TypeError, fmt::format("{}: expected a number, not {}", name, name_of_type(value)));
  }
  if (std::isnan(number)) raise(PyExc_ValueError, fmt::format("{}: is NaN", name));
  return number;
}

template <>
Rational number_of(nb::handle value, const std::string& name) {
  if (PyFloat_Check(value.ptr())) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == std::floor(number) && std::abs(number) < 0x1p53) return Rational(std::int64_t(number));
    raise(PyExc_TypeError,
          fmt::format("{}: {} is a float in exact arithmetic; use fractions.Fraction (Fraction(\"0.9\"), "
                      "Fraction(1, 3)) and the rows that were given, or exact=False",
                      name, number));
  }
  int overflow = 0;
  if (PyLong_Check(value.ptr())) {
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) return Rational(std::int64_t{number});
    return Rational(text_of(value));
  }
  try {
    const std::string numerator = text_of(value.attr("numerator"));
    return Rational(numerator + "/" + text_of(value.attr("denominator")));
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_AttributeError)) throw;
    raise(PyExc_TypeError,
          fmt::format("{}: expected an int or a fractions.Fraction, not {}", name, name_of_type(value)));
  }
}

nb::object python_number(double value) { return nb::float_(value); }

nb::object python_number(const Rational& value) {
  const std::string text = value.str();
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return fraction_type(python_int(text));
  return fraction_type(python_int(text.substr(0, slash)), python_int(text.substr(slash + 1)));
}

template <class Real>
std::vector<Real> weights_of(nb::handle values, const std::string& name) {
  std::vector<Real> weights;
  const nb::object sequence = nb::steal(PySequence_List(values.ptr()));
  if (!sequence.is_valid()) {
    clear_error();
    raise(PyExc_TypeError, fmt::format("{}: expected a row of numbers, not {}", name, name_of_type(values)));
  }
  const nb::list list = nb::borrow<nb::list>(sequence);
  weights.reserve(list.size());
  for (const nb::handle value : list) {
    weights.push_back(number_of<Real>(value, name));
    if (weights.back() < Real(0)) {
      raise(PyExc_ValueError, fmt::format("{}: the weight of token {} is below 0", name, weights.size() - 1));
    }
  }
  return weights;
}
template std::vector<double> weights_of(nb::handle values, const std::string& name);
template std::vector<Rational> weights_of(nb::handle values, const std::string& name);

nb::object python_row(BasicRow<double> row) {
  auto* copy = new double[static_cast<std::size_t>(row.size)];
  std::copy_n(row.probabilities, row.size, copy);
  const nb::capsule owner(copy, [](void* memory) noexcept { delete[] static_cast<double*>(memory); });
  const std::size_t shape = static_cast<std::size_t>(row.size);
  return nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<1>>(copy, 1, &shape, owner));
}

nb::object python_row(BasicRow<Rational> row) {
  nb::list numbers;
  for (Token id = 0; id < row.size; ++id) numbers.append(python_number(row[id]));
  return read_only(numpy.attr("array")(numbers, nb::arg("dtype") = numpy.attr("object_")));
}

nb::object python_tuple(const std::vector<Token>& tokens) {
  nb::list list;
  for (const Token token : tokens) list.append(token);
  return nb::tuple(list);
}

}  // namespace speclab::python
