// Reads responses with a list of the text's tokens and their log-probabilities: chat completions and the
// Responses API of OpenAI (https://platform.openai.com/docs/api-reference), llama.cpp's server
// (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md), Ollama
// (https://docs.ollama.com/api/generate), Text Generation Inference
// (https://huggingface.github.io/text-generation-inference) and SGLang
// (https://docs.sglang.io/basic_usage/native_api.html).
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/recording/json_document.hpp"
#include "experiments/recording/recording_format.hpp"

namespace speclab {

namespace {

/// Returns the lists of a response, one for each of its texts.
using ScoredLists = std::vector<JsonPlace> (*)(const JsonPlace& response);

std::vector<JsonPlace> chat_lists(const JsonPlace& response) {
  std::vector<JsonPlace> lists;
  if (!has_logprobs(*response.value, "content")) return lists;
  const JsonPlace choices = response.at("choices");
  for (std::size_t c = 0; c < choices.size(); ++c)
    lists.push_back(choices.at(c).at("logprobs").at("content"));
  return lists;
}

/// Without include=["message.output_text.logprobs"] the lists are empty.
std::vector<JsonPlace> output_lists(const JsonPlace& response) {
  std::vector<JsonPlace> lists;
  if (!response.has("output") || !response.at("output").value->is_array()) return lists;
  const JsonPlace output = response.at("output");
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (!output.at(i).has("content")) continue;
    const JsonPlace parts = output.at(i).at("content");
    for (std::size_t j = 0; parts.value->is_array() && j < parts.size(); ++j) {
      if (parts.at(j).has("logprobs") && parts.at(j).at("logprobs").size() > 0)
        lists.push_back(parts.at(j).at("logprobs"));
    }
  }
  return lists;
}

std::vector<JsonPlace> list_at(const JsonPlace& response, const char* key) {
  return response.has(key) && response.at(key).value->is_array() ? std::vector{response.at(key)}
                                                                 : std::vector<JsonPlace>{};
}

/// Returns the list of generated tokens, or that of the prompt if the request scored a given text: it then
/// generated at most one token.
std::vector<JsonPlace> text_or_prompt(const JsonPlace& response, const char* holder, const char* generated,
                                      const char* prompt) {
  if (!response.has(holder)) return {};
  const JsonPlace inside = response.at(holder);
  const std::vector<JsonPlace> text = list_at(inside, generated);
  const std::vector<JsonPlace> scored = list_at(inside, prompt);
  const bool scores = !scored.empty() && scored[0].size() > 1 && (text.empty() || text[0].size() <= 1);
  return scores ? scored : text;
}

/// A streamed response has one token a document.
std::vector<JsonPlace> tgi_lists(const JsonPlace& response) {
  if (response.has("token") && response.at("token").has("logprob")) return {response.at("token")};
  return text_or_prompt(response, "details", "tokens", "prefill");
}

/// Returns the token of {"id", "token" or "text", "logprob" or "prob"}, or of SGLang's [logprob, id, text];
/// empty if its log-probability is null, as that of a prompt's first token.
std::optional<ScoredToken> token_of_entry(const JsonPlace& entry) {
  ScoredToken token;
  if (entry.value->is_array()) {
    if (entry.size() != 3) entry.refuse("[log-probability, id, text]");
    if (entry.at(std::size_t{0}).value->is_null()) return std::nullopt;
    token.log_probability = entry.at(std::size_t{0}).number();
    token.id = entry.at(1).integer("an id");
    return token;
  }
  if (entry.has("id")) token.id = entry.at("id").integer("an id");
  for (const char* key : {"token", "text"}) {
    if (entry.has(key)) token.text = entry.at(key).text();
  }
  // Before 2025, llama-server listed the candidates of each text.
  if (entry.has("probs") && entry.has("content")) {
    const JsonPlace candidates = entry.at("probs");
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (*candidates.at(i).at("tok_str").value != *entry.at("content").value) continue;
      token = *token_of_entry({&(*candidates.value)[i], candidates.at(i).where});
      token.text = entry.at("content").text();
      return token;
    }
    candidates.refuse("the probability of " + entry.at("content").value->dump());
  }
  if (entry.has("prob")) {
    const JsonPlace probability = entry.at("prob");
    const double value = probability.number();
    if (!(value >= 0 && value <= 1)) probability.refuse("a probability");
    token.log_probability = std::log(value);
    return token;
  }
  if (entry.value->is_object() && entry.value->contains("logprob") && !entry.has("logprob"))
    return std::nullopt;
  token.log_probability = entry.at("logprob").number();
  return token;
}

RecordingPart read_scored(const RecordingSource& source, ScoredLists lists) {
  ScoredText text;
  // Streams have a text in several documents: Ollama's last has "done": true, TGI's last the generated text.
  bool goes_on = false;
  for (const JsonDocument& document : source.documents()) {
    const JsonPlace response = place(document);
    const std::vector<JsonPlace> found = lists(response);
    if (found.empty() && !(goes_on && response.has("done")))
      throw UsageError("{}: has no log-probabilities, but the first document has", response.where);
    for (const JsonPlace& list : found) {
      ScoredSequence& sequence = goes_on ? text.sequences.back() : text.add(list.where);
      const bool is_list = list.value->is_array();
      for (std::size_t i = 0; i < (is_list ? list.size() : 1); ++i) {
        const JsonPlace entry = is_list ? list.at(i) : list;
        auto token = token_of_entry(entry);
        if (!token && i > 0) entry.refuse("a log-probability");
        if (token) add_token(sequence, *std::move(token), entry.where);
      }
    }
    goes_on = (response.has("done") && *response.at("done").value == false) ||
              (response.has("token") && !response.has("generated_text"));
  }
  if (goes_on)
    throw UsageError("{}: the stream ends before its text; is the file cut off?",
                     source.documents().back().where);
  return text;
}

/// Returns the format whose `lists` are not empty; `missing` says what another file lacks.
RecordingFormat scored_format(const char* name, const char* sentence, ScoredLists lists,
                              const char* missing) {
  return {name, sentence,
          [=](const RecordingSource& source) -> std::string {
            if (source.documents().empty()) return source.json_problem();
            return lists(place(source.documents().front())).empty() ? missing : "";
          },
          [=](const RecordingSource& source) { return read_scored(source, lists); }};
}

}  // namespace

RecordingFormat openai_chat_format() {
  return scored_format("openai-chat", "One model's choices[].logprobs.content[].logprob from a chat API.",
                       chat_lists, "has no choices[].logprobs.content");
}

RecordingFormat openai_responses_format() {
  return scored_format("openai-responses", "One model's output[].content[].logprobs from the Responses API.",
                       output_lists, "has no output[].content[].logprobs");
}

RecordingFormat llama_server_format() {
  return scored_format(
      "llama-server", "One model's completion_probabilities from llama.cpp's server.",
      [](const JsonPlace& response) { return list_at(response, "completion_probabilities"); },
      "has no completion_probabilities");
}

RecordingFormat ollama_format() {
  return scored_format(
      "ollama", "One model's logprobs from Ollama, whole or streamed.",
      [](const JsonPlace& response) { return list_at(response, "logprobs"); }, "has no list logprobs");
}

RecordingFormat tgi_format() {
  return scored_format("tgi", "One model's details.tokens, or prefill, from Text Generation Inference.",
                       tgi_lists, "has no details.tokens");
}

RecordingFormat sglang_format() {
  return scored_format(
      "sglang", "One model's meta_info.output_token_logprobs, or input_token_logprobs, from SGLang.",
      [](const JsonPlace& response) {
        return text_or_prompt(response, "meta_info", "output_token_logprobs", "input_token_logprobs");
      },
      "has no meta_info.output_token_logprobs");
}

}  // namespace speclab
