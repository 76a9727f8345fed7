// Reads chat completions of OpenAI and of servers like it: choices[].logprobs.content[].{token, logprob,
// bytes, top_logprobs} (https://platform.openai.com/docs/api-reference/chat/object). They have no ids: tokens
// are identified by their text.
#include <nlohmann/json.hpp>

#include "experiments/recording/json_document.hpp"
#include "experiments/recording/recording_format.hpp"

namespace speclab {

namespace {

std::string not_openai_chat(const RecordingSource& source) {
  if (source.documents().empty()) return source.json_problem();
  if (!has_logprobs(source.documents().front().value, "content")) return "has no choices[].logprobs.content";
  return "";
}

RecordingPart read_openai_chat(const RecordingSource& source) {
  ScoredText text;
  for (const JsonDocument& document : source.documents()) {
    const JsonPlace choices = place(document).at("choices");
    for (std::size_t c = 0; c < choices.size(); ++c) {
      const JsonPlace content = choices.at(c).at("logprobs").at("content");
      ScoredSequence& sequence = text.add(content.where);
      for (std::size_t i = 0; i < content.size(); ++i) {
        const JsonPlace entry = content.at(i);
        add_token(sequence, {-1, entry.at("token").text(), entry.at("logprob").number()}, entry.where);
      }
    }
  }
  return text;
}

}  // namespace

RecordingFormat openai_chat_format() {
  return {"openai-chat", "One model's choices[].logprobs.content[].logprob from a chat API.", not_openai_chat,
          read_openai_chat};
}

}  // namespace speclab
