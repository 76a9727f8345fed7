// Binds `speclab plan`.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "experiments/base/format/named_entry.hpp"
#include "experiments/cli/program.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/watch.hpp"
#include "serving/cli/plan_way.hpp"

namespace speclab::python {

namespace {

/// Returns JSON, text and warnings of `speclab plan NAME` with these arguments.
nb::tuple plan(const std::string& name, const Words& words) {
  const std::vector<PlanWay>& ways = plan_ways();
  const auto way = std::ranges::find_if(ways, [&](const PlanWay& one) { return one.verb.name == name; });
  if (way == ways.end()) throw std::logic_error("there is no command speclab plan " + name);
  const Values values = parse(way->verb, "speclab plan " + name, words, find_named(verbs(), "plan"));
  Watch watch;
  const std::optional<PlanAnswer> answer =
      watch.run(0, [&] { return way->answer(values, watch.control(0)); });
  if (!answer) throw std::runtime_error("planning was stopped early");
  std::vector<std::string> warnings = answer->warnings;
  if (answer->unfit) warnings.push_back("it does not fit: " + *answer->unfit);
  return nb::make_tuple(answer->json, terminal(answer->text), warnings);
}

}  // namespace

void bind_plans(nb::module_& module) { module.def("plan", &plan, nb::arg("way"), nb::arg("words")); }

}  // namespace speclab::python
