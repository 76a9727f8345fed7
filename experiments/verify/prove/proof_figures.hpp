// The pages of `speclab prove`: what it found in a sentence, and figures.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/verify/prove/proof.hpp"
#include "experiments/verify/prove/survey.hpp"

namespace speclab {

std::string proof_headline(const Proof& proof);
/// The distribution of the round's tokens beside the target's; without distributions the acceptance and its
/// bound.
std::vector<Figure> proof_figures(const Proof& proof);

std::string survey_headline(const Survey& survey);
/// Acceptance of each rule beside the optimal transport bound.
std::vector<Figure> survey_figures(const Survey& survey);

}  // namespace speclab
