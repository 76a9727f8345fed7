// The parts of the extension module speclab._core; each file binds one subject. Users call the Python code in
// python/speclab, which checks arguments and passes plain arrays, texts and handles to these functions.
#pragma once

#include <nanobind/nanobind.h>

namespace speclab::python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_models(nb::module_& module);
void bind_rules(nb::module_& module);
void bind_configs(nb::module_& module);
void bind_proofs(nb::module_& module);
void bind_simulation(nb::module_& module);
void bind_verification(nb::module_& module);
void bind_tests(nb::module_& module);
void bind_engines(nb::module_& module);
void bind_theory(nb::module_& module);
void bind_plans(nb::module_& module);
void bind_recordings(nb::module_& module);

}  // namespace speclab::python
