// N-gram models trained on the config's corpus: of any order, and the kinds of order 1 and 2.
#include <span>

#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/kneser_ney.hpp"

namespace speclab {

namespace {

enum class CorpusPart { all, first_half, second_half };

struct TrainingText {
  CorpusPart part = CorpusPart::all;
  std::optional<CorpusConfig> corpus;  ///< default: the config's corpus
};

/// Returns the request with the model's training corpus: its own, at `path`, else the config's.
template <class Request>
Request with_training_corpus(Request request, const TrainingText& training, const std::string& path) {
  if (training.corpus) {
    request.corpus = &*training.corpus;
    request.corpus_path = path + "/corpus";
  }
  return request;
}

/// Returns the interpolated Kneser-Ney model of this order, trained once per corpus. Throws ConfigError if
/// there is no corpus (below `path` for errors in the model's own), and ModelError for a corpus that is too
/// short.
BuiltModel trained_ngram(const ModelRequest& given, int order, const TrainingText& training,
                         const std::string& path) {
  const ModelRequest request = with_training_corpus(given, training, path);
  const std::shared_ptr<const CorpusText> text = request.factory.text(request);
  const auto model = request.factory.shared(
      [](const CorpusConfig& corpus, CorpusPart of, int longest, const SharedPlace& place) {
        const auto whole = place.factory.text(corpus, place.path);
        std::span<const Token> tokens(whole->tokens);
        if (of == CorpusPart::first_half) tokens = tokens.first(tokens.size() / 2);
        if (of == CorpusPart::second_half) tokens = tokens.subspan(tokens.size() / 2);
        return train_kneser_ney(tokens, whole->vocabulary.size(), longest);
      },
      request.corpus_path, *request.corpus, training.part, order);
  return {Model(model), std::shared_ptr<const Vocabulary>(text, &text->vocabulary)};
}

/// Adds the facts to a kind whose parameters P are a TrainingText.
template <class P>
ModelKind trained_kind(ModelKind kind) {
  kind.facts = [](const SelectedKind& selected, const FactsRequest& given) {
    const FactsRequest request = with_training_corpus(given, selected.as<P>(), selected.path);
    check_corpus(request.corpus, request.corpus_path);
    return ModelFacts{.stored_rows = false, .words = true};
  };
  return kind;
}

template <class P>
std::vector<Field> training_fields() {
  return {field<P>("part", &P::part,
                   choice<CorpusPart>({{"all", CorpusPart::all},
                                       {"first_half", CorpusPart::first_half},
                                       {"second_half", CorpusPart::second_half}}),
                   "Part of the corpus to train on; two halves make draft and target independent."),
          field<P>("corpus", &P::corpus, corpus_type(),
                   "Text to train on instead of the config's corpus, in the same tokens: one that the target "
                   "generated, with tokenization \"ids\".")};
}

ModelKind ngram_of_order(std::string_view name, std::string_view sentence, int order) {
  return trained_kind<TrainingText>(kind_entry<ModelKind, TrainingText>(
      name, sentence, training_fields<TrainingText>(),
      [order](const TrainingText& own, const std::string& path, const ModelRequest& request) {
        return trained_ngram(request, order, own, path);
      }));
}

}  // namespace

ModelKind ngram_model() {
  struct P : TrainingText {
    int order = 0;
  };
  const Field order = with_unit(
      integer_field("order", &P::order, 1, max_ngram_order, "Length of the longest n-gram."), "tokens");
  return trained_kind<P>(
      kind_entry<ModelKind, P>("ngram", "Interpolated Kneser-Ney n-gram trained on the config's corpus.",
                               joined({required(order)}, training_fields<P>()),
                               [](const P& own, const std::string& path, const ModelRequest& request) {
                                 return trained_ngram(request, own.order, own, path);
                               }));
}

ModelKind unigram_model() { return ngram_of_order("unigram", "The n-gram of order 1.", 1); }

ModelKind bigram_model() { return ngram_of_order("bigram", "The n-gram of order 2.", 2); }

}  // namespace speclab
