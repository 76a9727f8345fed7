#include "experiments/run/perplexity.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/base/format/result_fields.hpp"

namespace speclab {

SPECLAB_RESULT(Perplexity, "perplexity", model, documents, tokens, impossible, unknown, bits_per_token,
               perplexity, possible_perplexity);

std::optional<Perplexity> perplexity_of(const Model& model, const std::vector<std::vector<Token>>& documents,
                                        std::optional<Token> unknown, const Control& control) {
  Perplexity found;
  double bits = 0;
  std::uint64_t unknowns = 0;
  std::vector<double> scratch;
  const auto memory = model.memory();
  const auto most = model.max_context();
  for (const std::vector<Token>& document : documents) {
    ++found.documents;
    if (model.prepares() && !document.empty() && (!most || document.size() <= *most)) {
      model.prepare(std::span(document).first(document.size() - 1), 0);
    }
    for (std::size_t i = 0; i < document.size(); ++i) {
      if (control.stop && i % 1024 == 0 && control.stop()) return std::nullopt;
      std::span<const Token> context = std::span(document).first(i);
      if (memory) context = context.last(std::min(i, static_cast<std::size_t>(*memory)));
      if (most) context = context.last(std::min(context.size(), *most));
      const Token token = document[i];
      const double probability = model.ngram() != nullptr ? model.ngram()->probability(context, token)
                                                          : model.next(context, scratch)[token];
      ++found.tokens;
      if (unknown && token == *unknown) ++unknowns;
      if (probability > 0) {
        bits -= std::log2(probability);
      } else {
        ++found.impossible;
      }
    }
    if (control.progress) control.progress(document.size());
  }
  const auto possible = static_cast<double>(found.tokens - found.impossible);
  found.possible_perplexity = std::exp2(bits / std::max(possible, 1.0));
  found.bits_per_token = found.impossible > 0 ? HUGE_VAL : bits / std::max(possible, 1.0);
  found.perplexity = std::exp2(found.bits_per_token);
  if (unknown)
    found.unknown =
        static_cast<double>(unknowns) / static_cast<double>(std::max<std::uint64_t>(found.tokens, 1));
  return found;
}

}  // namespace speclab
