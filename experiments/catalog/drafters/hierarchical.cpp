#include "sim/drafters/hierarchical.hpp"

#include <fmt/format.h>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/drafters/made_drafter.hpp"

namespace speclab {

DrafterKind hierarchical_drafter() {
  struct P {
    ModelConfig middle;
    DrafterConfig inner;
    std::int32_t gamma = 3;
  };
  return kind_entry<DrafterKind, P>(
      "hierarchical",
      "A middle model that is itself decoded speculatively. A run is a run of the middle model.",
      {required(field("middle", &P::middle, kind_of(model_family()), "The middle model.")),
       required(field("inner", &P::inner, kind_of(drafter_family()), "Drafter for the middle model.")),
       integer_field("gamma", &P::gamma, 1, max_tokens_drafted,
                     "Tokens that the inner drafter drafts at a time.")},
      [](const P& own, const std::string& path, const DrafterRequest& request) -> MadeDrafter {
        if (request.level >= max_inner_levels) {
          throw ConfigError(path, "has a drafter below it at level {}; at most {} levels are counted",
                            request.level + 2, max_inner_levels + 1);
        }
        if (own.inner.rule) {
          throw ConfigError(
              path + "/inner/rule",
              "a middle model verifies by token verification; only the target's rule can be chosen");
        }
        DraftModel middle = make_draft_model(own.middle, request);
        if (!middle.model) return {std::nullopt, middle.unsupported_reason};
        DrafterRequest below = request;
        ++below.level;
        MadeDrafter inner = make_drafter(own.inner, below);
        if (!inner.drafter) return inner;
        using Drafter = HierarchicalDrafter<Model, AnyDrafter>;
        return {Drafter(*std::move(middle.model), *std::move(inner.drafter), own.gamma),
                {},
                std::move(inner.costs)};
      });
}

}  // namespace speclab
