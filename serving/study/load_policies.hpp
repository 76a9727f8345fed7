// The policies that `speclab plan load` compares, and the server that runs each of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serving/study/load_plan.hpp"

namespace speclab {

/// A policy, and the properties of an engine that runs it.
struct LoadCandidate {
  std::string name;
  std::string sentence;
  std::uint32_t gamma = 0;
  Selected<StepPolicyKind> policy;
  bool drafts = true;  ///< false: no draft model is loaded
  bool fixed = false;  ///< the policy is one fixed gamma above 0
};

/// Returns the acceptance law for drafts up to the longest that any policy makes.
AcceptanceLaw law_of(const LoadQuestion& question);
/// Returns the mean tokens of a request's cache: its prompt and half of its output.
double mean_context(const RequestStream& stream);
/// Returns the costs of each device: with one device both models; with two the target's, then the draft's.
std::vector<CostPair> costs_by_device(const LoadQuestion& question);
/// Returns the tokens of cache that a replica can hold on each of its devices; 0 if there is no limit.
std::uint64_t cache_of(const LoadQuestion& question, double context, bool drafts);
/// Returns the best gamma for each batch, as `plan` finds it, for contexts from a quarter of `context`, the
/// mean, to four times it. Neighbouring contexts with equal tables share one. The last table holds for all
/// longer contexts.
std::vector<ContextTable> context_tables(const LoadQuestion& question, double context);

/// Returns the policies to compare, plain decoding first. `tables` comes from context_tables, `by_batch` is
/// for the mean context. With a draft device only fixed gammas are compared, and neither is read.
std::vector<LoadCandidate> load_candidates(const LoadQuestion& question,
                                           const std::vector<BatchRange>& by_batch,
                                           const std::vector<ContextTable>& tables);

/// Returns the server that runs a candidate. `context` is the mean context, used where the device's memory
/// bounds caches.
ServerOptions load_server(const LoadQuestion& question, const LoadCandidate& candidate, double context);
/// Returns the question's requests, by lengths or by its trace; at_rate sets their arrivals.
RequestStream load_stream(const LoadQuestion& question);
LoadSize load_size(const LoadQuestion& question, double rate);

/// Returns the best gamma for each batch at this context.
std::vector<BatchRange> batch_table(const LoadQuestion& question, double context);

}  // namespace speclab
