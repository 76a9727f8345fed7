// Headlines and figures for the pages of `speclab prove`.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/verify/prove/proof.hpp"
#include "experiments/verify/prove/survey.hpp"

namespace speclab {

std::string proof_headline(const Proof& proof);
/// Returns a figure of the round's distribution beside the target's; without distributions, of acceptance and
/// its bound.
std::vector<Figure> proof_figures(const Proof& proof);

std::string survey_headline(const Survey& survey);
/// Returns a figure of each rule's acceptance beside the optimal transport bound.
std::vector<Figure> survey_figures(const Survey& survey);

}  // namespace speclab
