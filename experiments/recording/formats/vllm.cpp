// Reads vLLM's prompt_logprobs: [null, {"<id>": {"logprob", "rank", "decoded_token"}}, ...], in a request's
// output, a choice, or a response (https://docs.vllm.ai/en/stable/api/vllm/sampling_params.html). With
// prompt_logprobs = 0 each position has only its own token; with more, prompt_token_ids must identify the
// token.
#include "experiments/base/support/csv.hpp"
#include "experiments/recording/json_document.hpp"
#include "experiments/recording/recording_format.hpp"

namespace speclab {

namespace {

/// Returns the objects of a document that have prompt_logprobs.
std::vector<JsonPlace> holders(const JsonDocument& document) {
  std::vector<JsonPlace> found;
  const JsonPlace whole = place(document);
  if (whole.has("prompt_logprobs")) return {whole};
  if (!whole.has("choices")) return found;
  const JsonPlace choices = whole.at("choices");
  if (!choices.value->is_array()) return found;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices.at(i).has("prompt_logprobs")) found.push_back(choices.at(i));
  }
  return found;
}

std::string not_vllm(const RecordingSource& source) {
  if (source.documents().empty()) return source.json_problem();
  return holders(source.documents().front()).empty() ? "has no prompt_logprobs" : "";
}

std::int64_t id_of(const std::string& key, const JsonPlace& position) {
  if (const auto id = integer_in(key)) return *id;
  throw UsageError("{}: key \"{}\"; expected a token id", position.where, key);
}

ScoredToken token_of(const JsonPlace& position, std::int64_t wanted) {
  if (!position.value->is_object() || position.value->empty())
    position.refuse(R"(an object such as {"12": {"logprob": -1.5}})");
  if (wanted < 0 && position.value->size() > 1) {
    throw UsageError(
        "{}: {} tokens and no prompt_token_ids, which say which one is the text's; ask with prompt_logprobs = 0",
        position.where, position.value->size());
  }
  const std::string key = wanted < 0 ? position.value->begin().key() : std::to_string(wanted);
  const JsonPlace entry = position.at(key.c_str());
  ScoredToken token;
  token.id = id_of(key, position);
  if (entry.has("decoded_token")) token.text = entry.at("decoded_token").text();
  token.log_probability = entry.at("logprob").number();
  return token;
}

RecordingPart read_vllm(const RecordingSource& source) {
  ScoredText text;
  for (const JsonDocument& document : source.documents()) {
    const std::vector<JsonPlace> found = holders(document);
    if (found.empty())
      throw UsageError("{}: has no prompt_logprobs, but the first document has", document.where);
    for (const JsonPlace& holder : found) {
      const JsonPlace positions = holder.at("prompt_logprobs");
      const bool has_ids = holder.has("prompt_token_ids");
      ScoredSequence& sequence = text.add(positions.where);
      for (std::size_t i = 0; i < positions.size(); ++i) {
        const JsonPlace position = positions.at(i);
        if (i == 0 && position.value->is_null()) continue;  // no token precedes the first one
        std::int64_t wanted = -1;
        if (has_ids) {
          const JsonPlace ids = holder.at("prompt_token_ids");
          if (i >= ids.size())
            throw UsageError("{}: {} ids, fewer than prompt_logprobs", ids.where, ids.size());
          wanted = ids.at(i).integer("an id");
        }
        add_token(sequence, token_of(position, wanted), position.where);
      }
    }
  }
  return text;
}

}  // namespace

RecordingFormat vllm_format() {
  return {"vllm", "One model's prompt_logprobs from vLLM.", not_vllm, read_vllm};
}

}  // namespace speclab
