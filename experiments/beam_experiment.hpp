// Speculative beam search beside plain beam search (Leviathan et al. 2023, appendix A.4).
#pragma once

#include <cstdint>

#include "experiments/format/shape.hpp"
#include "experiments/registry.hpp"
#include "sim/control.hpp"

namespace speclab {

/// Throws ConfigError where the "beam" section or the rule does not suit a beam search.
void check_beam(const Json& config);

/// Steps of a cell's speculative searches, for progress. One search a trial; with a single prompt all trials
/// would be the same, and there is one.
std::uint64_t beam_workload(const Setup& setup, const Json& config);

/// Runs the searches in parallel and adds to `out` what they did: "counts", "positions", "simulated", and
/// "formula", the value at the measured acceptance if steps were accepted independently. When stopped, marks
/// `out` partial and adds nothing else. Here
///
///     alpha_examined     accepted steps over those examined
///     tokens_per_round   steps a target run: each extends every sequence of the beam by one token
///     speed              steps / (target runs + c * drafted steps); runs cost the same for any number of
///     rows target_rows        contexts that the target evaluates, over plain beam search's; as a formula
///                        (w + u gamma) / (w steps a run)
///     operations         the same with the draft's rows, c_hat each
///     identical_beams    the share of searches whose beam, scores included, is plain beam search's
void describe_beams(Json& out, const Setup& setup, const Json& config, double confidence,
                    const Control& control);

}  // namespace speclab
