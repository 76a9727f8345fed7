// Converts numbers and rows between Python and C++, in doubles and in exact rationals. All functions need the
// GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "analysis/exact/rational.hpp"
#include "core/distribution/row.hpp"
#include "core/token.hpp"

namespace speclab::python {

namespace nb = nanobind;

/// Imports modules once, when this module is imported: an import within a call could let another thread run.
void import_for_numbers();

/// Throws a Python error of this type.
[[noreturn]] void raise(PyObject* type, const std::string& message);

/// Clears the pending error of a value that is not what was asked for, so that a better one can be raised.
/// Throws it if it is no Exception: an interrupt, which may come during any call into Python, must arrive as
/// itself.
void clear_error();

/// A Python object that threads without the GIL may copy and release.
class HeldObject {
 public:
  explicit HeldObject(nb::object object);
  nb::handle get() const { return *object_; }
  void clear() const { object_->reset(); }  ///< for all copies

 private:
  std::shared_ptr<nb::object> object_;
};

/// Slots of a handle in Python whose `T::functions` are HeldObjects: the collector of cycles finds and breaks
/// those through these objects. Another handle that reads such a function holds this handle among its own.
template <class T>
inline PyType_Slot collected_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(+[](PyObject* self, visitproc visit, void* arg) -> int {
       Py_VISIT(Py_TYPE(self));
       if (!nb::inst_ready(self)) return 0;
       for (const HeldObject& function : nb::inst_ptr<T>(self)->functions) Py_VISIT(function.get().ptr());
       return 0;
     })},
    {Py_tp_clear, reinterpret_cast<void*>(+[](PyObject* self) -> int {
       for (const HeldObject& function : nb::inst_ptr<T>(self)->functions) function.clear();
       return 0;
     })},
    {0, nullptr}};

/// Returns whether a value is a bool of Python or NumPy.
bool is_bool(nb::handle value);

/// Converts a number from Python: for doubles anything with __float__ except NaN; for rationals an int, a
/// Fraction, or a float that is a whole number. Throws ValueError or TypeError, whose message begins with
/// `name`.
template <class Real>
Real number_of(nb::handle value, const std::string& name);
template <>
double number_of(nb::handle value, const std::string& name);
template <>
Rational number_of(nb::handle value, const std::string& name);

/// Returns a float, or a fractions.Fraction.
nb::object python_number(double value);
nb::object python_number(const Rational& value);

/// Converts a sequence or one-dimensional array of numbers, none below 0.
template <class Real>
std::vector<Real> weights_of(nb::handle values, const std::string& name);

/// Returns a read-only NumPy array of float64, or of Fractions.
nb::object python_row(BasicRow<double> row);
nb::object python_row(BasicRow<Rational> row);

nb::object python_tuple(const std::vector<Token>& tokens);

}  // namespace speclab::python
