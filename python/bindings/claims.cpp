// Binds `speclab claims`.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "experiments/verify/claims/audit.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/watch.hpp"

namespace speclab::python {

namespace {

/// Returns JSON and text.
nb::tuple claims(const std::string& folder, const std::vector<std::string>& only) {
  Watch watch;
  const auto [text, words] = watch.run([&] {
    const ClaimAudit audit = audit_claims(claim_files(folder, only));
    Json json;
    write(described<ClaimAudit>(), audit, json);
    return std::pair(json.dump(), terminal(audit_text(audit)));
  });
  return nb::make_tuple(text, words);
}

}  // namespace

void bind_claims(nb::module_& module) { module.def("claims", &claims, nb::arg("folder"), nb::arg("only")); }

}  // namespace speclab::python
