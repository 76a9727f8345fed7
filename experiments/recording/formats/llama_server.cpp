// Reads responses of llama.cpp's server: completion_probabilities[].{id, token, bytes, logprob,
// top_logprobs[]}, or with post_sampling_probs prob and top_probs
// (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md).
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/recording/json_document.hpp"
#include "experiments/recording/recording_format.hpp"

namespace speclab {

namespace {

std::string not_llama_server(const RecordingSource& source) {
  if (source.documents().empty()) return source.json_problem();
  const JsonPlace first = place(source.documents().front());
  return first.has("completion_probabilities") ? "" : "has no completion_probabilities";
}

double log_of(const JsonPlace& entry) {
  if (entry.has("logprob")) return entry.at("logprob").number();
  if (!entry.has("prob")) throw UsageError(entry.where + ": has neither logprob nor prob");
  const JsonPlace probability = entry.at("prob");
  const double value = probability.number();
  if (!(value >= 0 && value <= 1)) probability.refuse("a probability");
  return std::log(value);
}

RecordingPart read_llama_server(const RecordingSource& source) {
  ScoredText text;
  for (const JsonDocument& document : source.documents()) {
    const JsonPlace entries = place(document).at("completion_probabilities");
    ScoredSequence& sequence = text.add(entries.where);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const JsonPlace entry = entries.at(i);
      ScoredToken token;
      if (entry.has("id")) token.id = entry.at("id").integer("an id");
      if (entry.has("token")) token.text = entry.at("token").text();
      token.log_probability = log_of(entry);
      add_token(sequence, std::move(token), entry.where);
    }
  }
  return text;
}

}  // namespace

RecordingFormat llama_server_format() {
  return {"llama-server", "One model's completion_probabilities from llama.cpp's server.", not_llama_server,
          read_llama_server};
}

}  // namespace speclab
