// The policies that `speclab plan load` compares, and the server that runs each of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serving/study/load_plan.hpp"

namespace speclab {

/// A policy, and the engine that runs it.
struct LoadCandidate {
  std::string name;
  std::string sentence;
  std::uint32_t gamma = 0;
  Selected<StepPolicyKind> policy;
  bool drafts = true;     ///< false: no draft model is loaded
  bool settable = false;  ///< servers have settings for it
};

/// Returns the acceptance law for the longest draft of any policy.
AcceptanceLaw law_of(const LoadQuestion& question);
/// Returns a request's mean cached tokens: its prompt and half of its output.
double mean_context(const RequestStream& stream);
/// Returns the cache tokens that a replica can hold; 0: unlimited.
std::uint64_t cache_of(const LoadQuestion& question, double context, bool drafts);
/// Returns true if the section's policy is compared, too: it is not a fixed gamma.
bool has_own_policy(const LoadQuestion& question);
/// Returns the best gamma per batch at this context, as `plan` finds it.
std::vector<BatchRange> batch_table(const LoadQuestion& question, double context);
/// Returns the policies to compare, first none (no speculation). `by_batch` is for the mean context.
std::vector<LoadCandidate> load_candidates(const LoadQuestion& question,
                                           const std::vector<BatchRange>& by_batch);

/// Returns the server that runs a candidate. `context` is the mean context, used where memory bounds caches.
ServerOptions load_server(const LoadQuestion& question, const LoadCandidate& candidate, double context);
/// Returns the question's requests, by lengths or trace; at_rate sets their arrivals.
RequestStream load_stream(const LoadQuestion& question);
LoadSize load_size(const LoadQuestion& question, double rate);

}  // namespace speclab
