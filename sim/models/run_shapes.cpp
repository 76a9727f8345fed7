#include "sim/models/run_shapes.hpp"

#include <cassert>

#include "sim/error.hpp"

#ifdef SPECLAB_HAS_LLAMA
#include <algorithm>
#include <utility>

#include "sim/models/gguf_model.hpp"
#include "sim/models/gguf_session.hpp"
#endif

namespace speclab {

#ifdef SPECLAB_HAS_LLAMA

struct RunShapes::Weights {
  std::shared_ptr<const GgufTokenizer> tokenizer;
  std::shared_ptr<llama_model> model;
};

RunShapes::RunShapes(std::shared_ptr<const GgufTokenizer> tokenizer) {
  auto model = load_llama_model(tokenizer->file(), false);
  weights_ = std::make_shared<const Weights>(Weights{std::move(tokenizer), std::move(model)});
}

LogitRows RunShapes::logits(std::span<const Token> text, std::size_t prompt, const TextRuns& shape) const {
  assert(0 < prompt && prompt < text.size() && shape.tokens > 0);
  std::vector<Token> tokens;
  tokens.reserve(text.size());
  if (const auto start = weights_->tokenizer->start()) tokens.push_back(*start);
  const std::size_t first = tokens.size() + prompt;
  tokens.insert(tokens.end(), text.begin(), text.end() - 1);

  GgufOptions options;
  options.batch = shape.prompt_at_once ? 0 : shape.tokens;
  GgufSession session(weights_->model, options, static_cast<std::int32_t>(tokens.size()));
  // Computes the logits of lengths from..to; the session drops those of earlier runs.
  LogitRows rows;
  const auto run = [&](std::size_t from, std::size_t to) {
    const TextRun wanted{0, std::span(tokens).first(to), from};
    session.run({&wanted, 1});
    for (std::size_t length = std::max(from, first + rows.size()); length <= to; ++length) {
      rows.push_back(session.logits(length));
    }
  };
  if (!shape.prompt_at_once) {
    if (shape.ahead > 0) run(static_cast<std::size_t>(shape.ahead), static_cast<std::size_t>(shape.ahead));
    run(first, tokens.size());
    return rows;
  }
  run(first, first);
  const auto step = static_cast<std::size_t>(shape.tokens);
  for (std::size_t end = first; end < tokens.size();) {
    const std::size_t begin = end + 1;
    end = std::min(end + step, tokens.size());
    run(begin, end);
  }
  return rows;
}

#else

struct RunShapes::Weights {};

RunShapes::RunShapes(std::shared_ptr<const GgufTokenizer>) {
  throw ModelError("neural models need libllama");
}
LogitRows RunShapes::logits(std::span<const Token>, std::size_t, const TextRuns&) const {
  throw ModelError("neural models need libllama");
}

#endif

}  // namespace speclab
