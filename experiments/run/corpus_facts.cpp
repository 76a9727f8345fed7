#include "experiments/run/corpus_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/support/data_files.hpp"
#include "experiments/catalog/models/corpus_text.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/model_file.hpp"
#include "sim/models/ngram_model.hpp"

namespace speclab {

SPECLAB_RESULT(HeldOutPerplexity, "perplexity", model, config, bits_per_token, perplexity, unknown_because);
SPECLAB_RESULT(CorpusFacts, "corpus_facts", file, tokens, held_out_tokens, vocabulary, unknown_share, models);

namespace {

/// Kinds of n-gram models, that look up single probabilities without computing a row.
constexpr std::array quickly_measured{"unigram", "bigram", "ngram"};

std::string model_text(const Config& cell, bool draft) {
  Json json;
  write(kind_of(model_family()), draft ? cell.models->draft : cell.models->target, json["model"]);
  write(sampling_type(), cell.sampling, json["sampling"]);
  return json.dump();
}

/// Measures the model on each document, from its beginning, token by token.
void measure(const NgramModel& model, const std::vector<std::vector<Token>>& documents,
             HeldOutPerplexity& found) {
  double bits = 0;
  std::uint64_t tokens = 0;
  std::uint64_t impossible = 0;
  for (const std::vector<Token>& document : documents) {
    for (std::size_t i = 0; i < document.size(); ++i, ++tokens) {
      const double probability = model.probability(std::span(document).first(i), document[i]);
      if (probability > 0) {
        bits -= std::log2(probability);
      } else {
        ++impossible;
      }
    }
  }
  if (impossible > 0) {
    found.unknown_because = fmt::format("infinite: {} of {} tokens have probability 0", impossible, tokens);
    return;
  }
  found.bits_per_token = bits / std::max(static_cast<double>(tokens), 1.0);
  found.perplexity = std::exp2(*found.bits_per_token);
}

HeldOutPerplexity held_out_perplexity(const Config& cell, bool draft, const CorpusText& text,
                                      ModelFactory& factory) {
  const ModelConfig& config = draft ? cell.models->draft : cell.models->target;
  Json json;
  write(kind_of(model_family()), config, json);
  HeldOutPerplexity found{.model = draft ? "draft" : "target",
                          .config = std::make_shared<const Json>(std::move(json))};
  if (text.held_out.empty()) {
    found.unknown_because = "nothing is held out (corpus.hold_out)";
    return found;
  }
  const bool quick = std::ranges::find(quickly_measured, config.name()) != quickly_measured.end();
  if (!quick || !sampling_of(config, cell.sampling).identity()) {
    found.unknown_because = "not measured: it takes a row of the vocabulary a token";
    return found;
  }
  const BuiltModel built = model_of_config(cell, draft, factory);
  measure(*built.model.ngram(), text.held_out, found);
  return found;
}

}  // namespace

void CorpusSurvey::add(const Config& cell) {
  if (!cell.corpus) return;
  auto cells =
      std::ranges::find_if(corpora_, [&](const CorpusCells& one) { return one.corpus == *cell.corpus; });
  if (cells == corpora_.end()) {
    if (!std::filesystem::exists(cell.corpus->file)) return;
    cells = corpora_.insert(corpora_.end(), {*cell.corpus, {}, {}});
  }
  if (!cell.models) return;
  const auto corpus = cells - corpora_.begin();
  for (const bool draft : {false, true}) {
    if (!models_.emplace(corpus, draft, model_text(cell, draft)).second) continue;
    (draft ? cells->drafts : cells->targets).push_back(cell);
  }
}

CorpusFacts corpus_facts(const CorpusCells& cells, ModelFactory& factory) {
  const CorpusConfig& corpus = cells.corpus;
  const auto text = factory.text(corpus, "/corpus");
  CorpusFacts facts{.file = shipped_name(corpus.file),
                    .tokens = text->tokens.size(),
                    .vocabulary = text->vocabulary.size()};
  for (const std::vector<Token>& document : text->held_out) facts.held_out_tokens += document.size();
  // Vocabularies of words and pieces begin with <unk>; those of bytes and of neural models have none.
  if (text->vocabulary.size() > 0 && text->vocabulary.text(0) == "<unk>" && !text->tokens.empty()) {
    const auto unknown = std::ranges::count(text->tokens, Token{0});
    facts.unknown_share = static_cast<double>(unknown) / static_cast<double>(text->tokens.size());
  }
  for (const bool draft : {false, true}) {
    for (const Config& cell : draft ? cells.drafts : cells.targets)
      facts.models.push_back(held_out_perplexity(cell, draft, *text, factory));
  }
  return facts;
}

}  // namespace speclab
