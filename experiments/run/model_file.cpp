#include "experiments/run/model_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/setup.hpp"
#include "sim/models/arpa.hpp"

namespace speclab {

namespace {

Vocabulary plain_words(std::int32_t size) {
  std::vector<std::string> words;
  for (std::int32_t i = 0; i < size; ++i) words.push_back(fmt::format("t{}", i));
  return Vocabulary::words(std::move(words));
}

/// Returns the n-grams of a table whose contexts have `order` tokens. A shorter context has the row of that
/// context padded with token 0, as in TableModel.
NgramModel ngrams_of(const ContextRows& rows, int order) {
  const auto vocab = static_cast<std::int32_t>(rows.vocab);
  NgramList list;
  list.vocab = vocab;
  const NgramPacking packing(vocab);
  std::size_t contexts = 1;
  for (int length = 1; length <= order + 1; ++length) {
    std::vector<ListedNgram>& level = list.levels.emplace_back();
    for (std::size_t context = 0; context < contexts; ++context) {
      for (std::int32_t token = 0; token < vocab; ++token) {
        // The index of a context in the table does not change if tokens 0 are put before it.
        const std::size_t at = context * rows.vocab + static_cast<std::size_t>(token);
        std::size_t rest = at;
        std::vector<Token> tokens(static_cast<std::size_t>(length));
        for (std::size_t i = tokens.size(); i-- > 0; rest /= rows.vocab) {
          tokens[i] = static_cast<Token>(rest % rows.vocab);
        }
        level.push_back({packing.pack(tokens), rows.probabilities[at], 1});
      }
    }
    contexts *= rows.vocab;
  }
  return NgramModel(list);
}

void write_arpa_file(const BuiltModel& built, const std::filesystem::path& file) {
  std::ostringstream text;
  const Vocabulary words = built.vocabulary ? *built.vocabulary : plain_words(built.model.vocab());
  if (const NgramModel* ngram = built.model.ngram()) {
    write_arpa(*ngram, words, text);
  } else {
    const ContextRows rows = rows_of(built.model);
    const int order = *built.model.memory();
    if (order + 1 > max_ngram_order) {
      throw UsageError("{}: contexts of {} tokens; ARPA files here have at most {}", file.string(), order,
                       max_ngram_order - 1);
    }
    write_arpa(ngrams_of(rows, order), words, text);
  }
  write_file_atomically(file, text.str());
}

}  // namespace

BuiltModel model_from_file(const std::string& file, ModelFactory& factory) {
  const char* kind = std::filesystem::path(file).extension() == ".arpa" ? "arpa" : "table";
  const ModelConfig config = read(kind_of(model_family()), Json{{"kind", kind}, {"file", file}}, "");
  return factory.unadjusted(config, {factory, nullptr, "", nullptr, std::nullopt});
}

BuiltModel model_of_config(const Config& config, bool draft, ModelFactory& factory) {
  refuse_many_cells(config, "a model is taken from");
  facts_of_model(config, draft);
  const BuiltModel target =
      factory.model(config.models->target, model_request(config, factory, nullptr), config.sampling);
  if (!draft) return target;
  BuiltModel made =
      factory.model(config.models->draft, model_request(config, factory, &target.model), config.sampling);
  if (!made.vocabulary) made.vocabulary = target.vocabulary;
  return made;
}

ContextRows rows_of(const Model& model) {
  const auto memory = model.memory();
  if (!memory)
    throw UsageError(
        "the model's rows depend on the whole context; a table has a row for each of few contexts");
  constexpr double most = 1 << 26;
  const auto vocab = static_cast<std::size_t>(model.vocab());
  const double numbers = std::pow(static_cast<double>(vocab), *memory + 1);
  if (numbers > most) {
    throw UsageError(
        "{} tokens and contexts of {} make {:.3g} numbers; at most {:.3g} are written as a table", vocab,
        *memory, numbers, most);
  }
  ContextRows rows{vocab, {}};
  std::vector<Token> context(static_cast<std::size_t>(*memory));
  std::vector<double> scratch;
  for (;;) {
    const Row row = model.next(context, scratch);
    rows.probabilities.insert(rows.probabilities.end(), row.probabilities, row.probabilities + row.size);
    // Moves to the next context; the last token changes fastest.
    std::size_t at = context.size();
    while (at > 0 && ++context[at - 1] == static_cast<Token>(vocab)) context[--at] = 0;
    if (at == 0) return rows;
  }
}

void write_model(const BuiltModel& built, const std::filesystem::path& file) {
  if (file.extension() == ".arpa") return write_arpa_file(built, file);
  const TableText text = table_text(file);
  write_file_atomically(file, text(rows_of(built.model)));
}

}  // namespace speclab
