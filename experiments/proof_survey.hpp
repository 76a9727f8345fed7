// `speclab prove --all`: every verifier on the same random instances, in exact arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/proof.hpp"
#include "sim/control.hpp"

namespace speclab {

/// What a verifier promises, and is held to.
enum class Promise { lossless, lossless_at_zero, lossy };

/// One row of the survey: a verifier with its parameters, and what it promises.
struct SurveyedVerifier {
  std::string label;
  Json spec;  ///< parameters except "drafts", which the instances vary
  Promise promise;
};
const std::vector<SurveyedVerifier>& surveyed_verifiers();

/// Instance `number` of a survey for one verifier: order-0 or order-1 tables of small fractions over 2..4
/// ids, with zeros, point masses, equal rows and disjoint supports among them; gamma 1..3 and 1..3
/// drafts, lowered until the branches are few. Addressed by (seed, number). For verifiers that promise
/// losslessness at temperature 0 the target's rows are points.
ProofTask survey_instance(const SurveyedVerifier& verifier, std::uint64_t seed, std::uint32_t number);

/// Every surveyed verifier on `instances` instances. For each: how often it was lossless, the worst distance
/// with a counterexample, mean acceptance beside the mean optimum, and whether its promise was accepted
/// ("kept"): lossless means distance 0 on every instance. For lenience also on how many instances the first
/// token stayed at or below p / l ("within_p_over_l"). `steps` are instances; a stop leaves the result
/// partial.
Json prove_all(std::uint32_t instances, std::uint64_t seed, const Control& control);

std::string survey_text(const Json& survey);

}  // namespace speclab
