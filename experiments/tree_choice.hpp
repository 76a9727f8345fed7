// The static tree that suits two models: acceptance by rank is measured where the config does not give it,
// and the size is chosen by cost where the config asks for that.
#pragma once

#include "experiments/format/shape.hpp"
#include "sim/models/model.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// The verifier of `config` with what a tree of growth "optimal" leaves open filled in ("rank_acceptance",
/// "nodes"); any other verifier as it is. The pilot measurement has random numbers of its own.
Json with_chosen_tree(const Json& config, const Model& target, const Model& draft,
                      const SimulationSize& plan);

/// Does the rule of this verifier depend on gamma and on the costs, through the shape of its tree?
bool has_tree(const Json& verifier);

}  // namespace speclab
