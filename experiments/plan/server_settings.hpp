// A plan in the words of the servers that carry it out.
#pragma once

#include <string>
#include <vector>

#include "experiments/plan/plan_result.hpp"

namespace speclab {

struct ServedPlan {
  std::string target = "TARGET_MODEL";
  std::string draft = "DRAFT_MODEL";
  bool by_lookup = false;           ///< drafts are copied from the text (n-grams), not made by a model
  int gamma = 1;                    ///< 1 or more
  std::vector<BatchRange> batches;  ///< the best gamma by batch; empty when unknown
};

/// vLLM, SGLang, TensorRT-LLM, llama.cpp and Hugging Face Transformers.
std::vector<ServerSetting> server_settings(const ServedPlan& plan);

/// An option that some setting names, and where it was read.
struct ServerOption {
  std::string server;
  std::string option;
  std::string version;  ///< for which it was read
  std::string source;   ///< URL of documentation or source
};

/// Every option that `server_settings` prints, in present and older forms.
const std::vector<ServerOption>& server_options();

}  // namespace speclab
