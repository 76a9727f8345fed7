// A plan in the words of the servers that carry it out.
#pragma once

#include <string>
#include <vector>

#include "analysis/cost/speculation_cost.hpp"

namespace speclab {

struct ServedPlan {
  std::string target = "TARGET_MODEL";
  std::string draft = "DRAFT_MODEL";
  bool by_lookup = false;           ///< drafts are copied from the text (n-grams), not made by a model
  int gamma = 1;                    ///< 1 or more
  std::vector<BatchRange> batches;  ///< the best gamma by batch; empty when unknown
};

struct ServerSetting {
  std::string server;
  std::string checked;  ///< the documentation the names of options were checked against
  std::vector<std::string> lines;
};

/// vLLM, SGLang, TensorRT-LLM, llama.cpp and Hugging Face Transformers.
std::vector<ServerSetting> server_settings(const ServedPlan& plan);

}  // namespace speclab
