#include "experiments/base/support/version.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/numbers.hpp"

NB_MODULE(_core, module) {
  using namespace speclab::python;
  module.attr("version") = speclab::version_string().c_str();
  import_for_numbers();
  bind_errors(module);
  bind_models(module);
  bind_rules(module);
  bind_configs(module);
  bind_proofs(module);
  bind_simulation(module);
  bind_verification(module);
  bind_tests(module);
  bind_engines(module);
  bind_theory(module);
  bind_plans(module);
  bind_recordings(module);
}
