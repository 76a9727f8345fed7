// Converts errors about inputs to speclab.ConfigError, a ValueError.
#include <nanobind/stl/string.h>

#include <exception>

#include "analysis/exact/context_chain.hpp"
#include "experiments/base/format/config_error.hpp"
#include "python/bindings/bind.hpp"
#include "sim/error.hpp"

namespace speclab::python {

void bind_errors(nb::module_& module) {
  // The error is raised as (sentence, path, file); the class itself is written in Python. The reference is
  // never released, since modules are released when the interpreter ends.
  static nb::handle error_class;
  module.def(
      "set_config_error", [](nb::object made) { error_class = made.release(); }, nb::arg("made"));
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    const auto raise = [](const std::string& sentence, const std::string& path, const std::string& file) {
      if (!error_class.is_valid()) return PyErr_SetString(PyExc_ValueError, sentence.c_str());
      const nb::object made = error_class(sentence, path, file);
      PyErr_SetObject(error_class.ptr(), made.ptr());
    };
    try {
      std::rethrow_exception(thrown);
    } catch (const ConfigError& error) {
      raise(error.sentence(), error.path, error.file);
    } catch (const UsageError& error) {
      raise(error.what(), "", "");
    } catch (const ModelError& error) {
      raise(error.what(), "", "");
    } catch (const ChainError& error) {
      raise(error.what(), "", "");
    }
  });
}

}  // namespace speclab::python
