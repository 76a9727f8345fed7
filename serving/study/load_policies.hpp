// The policies that `speclab plan load` compares, and the server that each runs on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serving/study/load_plan.hpp"

namespace speclab {

/// A policy with what an engine needs for it.
struct LoadCandidate {
  std::string name;
  std::string sentence;
  std::uint32_t gamma = 0;
  Selected<StepPolicyKind> policy;
  bool drafts = true;  ///< false: no draft model is loaded
  bool fixed = false;  ///< one gamma above 0
};

/// Of drafts as long as any of the policies makes.
AcceptanceLaw law_of(const LoadQuestion& question);
/// Mean tokens of a request's cache: its prompt and half of its output.
double mean_context(const RequestStream& stream);
/// What each device pays for: of one device both models, or the target's and then the draft's alone.
std::vector<CostPair> costs_by_device(const LoadQuestion& question);
/// Tokens of caches that a replica holds, on each of its devices; 0 without bound.
std::uint64_t cache_of(const LoadQuestion& question, double context, bool drafts);
/// The best gamma of each batch, as `plan` has it, for contexts of a quarter of the mean to four times the
/// mean, `context`: one table where they agree. The last holds for all longer contexts.
std::vector<ContextTable> context_tables(const LoadQuestion& question, double context);

/// Plain decoding first. `tables` of context_tables; `by_batch` of the mean context. With a draft device
/// fixed gammas alone, and both are not read.
std::vector<LoadCandidate> load_candidates(const LoadQuestion& question,
                                           const std::vector<BatchRange>& by_batch,
                                           const std::vector<ContextTable>& tables);

/// `context` is the mean one, for caches that the device's memory bounds.
ServerOptions load_server(const LoadQuestion& question, const LoadCandidate& candidate, double context);
/// Lengths of the question's requests, or its trace; its arrivals are made of a rate (at_rate).
RequestStream load_stream(const LoadQuestion& question);
LoadSize load_size(const LoadQuestion& question, double rate);

/// The best gamma of each batch for this context.
std::vector<BatchRange> batch_table(const LoadQuestion& question, double context);

}  // namespace speclab
