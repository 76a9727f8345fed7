// OpenAI's completions and servers like it: choices[].logprobs.{tokens, token_logprobs, top_logprobs,
// text_offset} (https://platform.openai.com/docs/api-reference/completions/object). With echo the first token
// has no log-probability, which is null.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

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

/// vLLM writes "token_id:123" when asked for ids.
ScoredToken token_of(const std::string& text) {
  constexpr std::string_view prefix = "token_id:";
  ScoredToken token;
  const char* const last = text.data() + text.size();
  std::int64_t id = 0;
  if (text.starts_with(prefix)) {
    const auto [end, error] = std::from_chars(text.data() + prefix.size(), last, id);
    if (error == std::errc{} && end == last) {
      token.id = id;
      return token;
    }
  }
  token.text = text;
  return token;
}

RecordingPart read_openai_completions(const RecordingSource& source) {
  ScoredText text;
  for (const JsonDocument& document : source.documents()) {
    const JsonPlace choices = place(document).at("choices");
    for (std::size_t c = 0; c < choices.size(); ++c) {
      const JsonPlace logprobs = choices.at(c).at("logprobs");
      const JsonPlace tokens = logprobs.at("tokens");
      const JsonPlace values = logprobs.at("token_logprobs");
      ScoredSequence sequence{std::to_string(text.sequences.size()), logprobs.where, {}};
      if (tokens.size() != values.size()) {
        throw UsageError(fmt::format("{}: {} tokens, but {} token_logprobs", logprobs.where, tokens.size(),
                                     values.size()));
      }
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        const JsonPlace value = values.at(i);
        if (i == 0 && value.value->is_null()) continue;  // the first token of an echoed prompt
        ScoredToken token = token_of(tokens.at(i).text());
        token.log_probability = value.number();
        add_token(sequence, std::move(token), value.where);
      }
      text.sequences.push_back(std::move(sequence));
    }
  }
  return text;
}

}  // namespace

RecordingFormat openai_completions_format() {
  return {"openai-completions", "choices[].logprobs.token_logprobs of a completions API, of one model.",
          not_openai_completions, read_openai_completions};
}

}  // namespace speclab
