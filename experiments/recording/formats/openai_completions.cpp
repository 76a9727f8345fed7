// Reads completions of OpenAI and of servers like it: choices[].logprobs.{tokens, token_logprobs,
// top_logprobs, text_offset} (https://platform.openai.com/docs/api-reference/completions/object). With echo,
// the first token has no log-probability; it is null.
#include "experiments/base/support/csv.hpp"
#include "experiments/recording/json_document.hpp"
#include "experiments/recording/recording_format.hpp"

namespace speclab {

namespace {

std::string not_openai_completions(const RecordingSource& source) {
  if (source.documents().empty()) return source.json_problem();
  if (!has_logprobs(source.documents().front().value, "token_logprobs"))
    return "has no choices[].logprobs.token_logprobs";
  return "";
}

/// Parses a token. vLLM writes "token_id:123" if it is asked for ids.
ScoredToken token_of(const std::string& text) {
  constexpr std::string_view prefix = "token_id:";
  const auto id =
      text.starts_with(prefix) ? integer_in(std::string_view(text).substr(prefix.size())) : std::nullopt;
  return id ? ScoredToken{*id, "", 0} : ScoredToken{-1, text, 0};
}

RecordingPart read_openai_completions(const RecordingSource& source) {
  ScoredText text;
  for (const JsonDocument& document : source.documents()) {
    const JsonPlace choices = place(document).at("choices");
    for (std::size_t c = 0; c < choices.size(); ++c) {
      const JsonPlace logprobs = choices.at(c).at("logprobs");
      const JsonPlace tokens = logprobs.at("tokens");
      const JsonPlace values = logprobs.at("token_logprobs");
      ScoredSequence& sequence = text.add(logprobs.where);
      if (tokens.size() != values.size()) {
        throw UsageError("{}: {} tokens, but {} token_logprobs", logprobs.where, tokens.size(),
                         values.size());
      }
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        const JsonPlace value = values.at(i);
        if (i == 0 && value.value->is_null()) continue;  // the first token of an echoed prompt
        ScoredToken token = token_of(tokens.at(i).text());
        token.log_probability = value.number();
        add_token(sequence, std::move(token), value.where);
      }
    }
  }
  return text;
}

}  // namespace

RecordingFormat openai_completions_format() {
  return {"openai-completions", "One model's choices[].logprobs.token_logprobs from a completions API.",
          not_openai_completions, read_openai_completions};
}

}  // namespace speclab
