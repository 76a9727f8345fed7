// `speclab plan`.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/cli/plan_answer.hpp"
#include "experiments/format/config_error.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/watch.hpp"

namespace speclab::python {

namespace {

/// JSON, text and warnings of what these options ask for.
nb::tuple plan(const std::vector<std::string>& words) {
  Usage usage = plan_usage();
  std::optional<boost::program_options::variables_map> values;
  try {
    values = parse(usage, words);
  } catch (const boost::program_options::error& error) {
    throw UsageError(error.what());
  }
  Watch watch;
  const std::optional<PlanAnswer> answer =
      watch.run(0, [&] { return plan_answer(*values, watch.control(0)); });
  if (!answer) throw std::runtime_error("planning was stopped early");
  return nb::make_tuple(answer->json, terminal(answer->text), answer->warnings);
}

}  // namespace

void bind_plans(nb::module_& module) { module.def("plan", &plan, nb::arg("words")); }

}  // namespace speclab::python
