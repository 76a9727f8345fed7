#include "experiments/catalog/models/gguf.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "experiments/base/format/config_error.hpp"
#include "sim/error.hpp"
#include "sim/models/mapped_model.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

GgufOptions options_of(const GgufParameters& own) {
  constexpr std::size_t mebi = std::size_t{1} << 20U;
  return {.context = own.context,
          .batch = own.batch.value_or(1),
          .threads = own.threads,
          .kept_rows = static_cast<std::size_t>(own.kept_rows) * mebi};
}

/// Returns a hint for files that the project's configs name but the project does not contain.
std::string remedy_of_missing(const std::string& file) {
  if (!file.starts_with("data/smollm2-") || std::filesystem::exists(file)) return "";
  return file == "data/smollm2-135m.gguf"
             ? "; scripts/setup.sh neural fetches it"
             : "; docs/neural.md says how it is made of what scripts/setup.sh neural fetches";
}

/// Throws ConfigError if loading would need more memory than is available.
void require_gguf_memory(const GgufTokenizer& tokenizer, const GgufOptions& options,
                         const std::string& path) {
  constexpr double mega = 1e6;
  const double cache = GgufModel::cache_bytes(tokenizer.facts(), options);
  const double rows = static_cast<double>(options.kept_rows);
  const int threads = concurrency();
  require_memory(
      tokenizer.facts().file_bytes + cache * threads + rows, path,
      fmt::format("{}: weights of {:.0f} MB, a cache of {:.0f} MB for each of {} threads and {:.0f} "
                  "MB of rows that are kept",
                  tokenizer.file().string(), tokenizer.facts().file_bytes / mega, cache / mega, threads,
                  rows / mega));
}

/// Returns the words of a file's tokens; with `chat` also the marks around a prompt.
std::shared_ptr<const Vocabulary> gguf_vocabulary(const std::string& file, bool chat, const std::string& path,
                                                  ModelFactory& factory) {
  return factory.shared(
      [](const std::string& of, bool marks, const SharedPlace& place) {
        std::shared_ptr<const TokenCoder> coder = gguf_tokenizer(of, place.path, place.factory);
        if (marks) coder = std::make_shared<const ChatCoder>(gguf_tokenizer(of, place.path, place.factory));
        return Vocabulary::coded(Tokenization::gguf, std::move(coder));
      },
      path, file, chat);
}

/// Returns the model of `own.file`, its rows mapped to the tokens of the GGUF file `own.tokens_of`.
BuiltModel mapped(const GgufParameters& own, const std::string& path,
                  const std::shared_ptr<const GgufModel>& model,
                  const std::shared_ptr<const GgufTokenizer>& tokenizer, const ModelRequest& request) {
  if (own.chat) throw ConfigError(path + "/chat", "is for prompts, which are in the target's tokens");
  const auto seen = gguf_tokenizer(own.tokens_of, path + "/tokens_of", request.factory);
  MappedModel made(*model, tokenizer, seen);
  if (made.partners() == 0)
    throw ConfigError(path + "/tokens_of", "no token of {} is written as one of {}", own.tokens_of, own.file);
  return {Model(std::move(made)),
          gguf_vocabulary(own.tokens_of, false, path + "/tokens_of", request.factory)};
}

BuiltModel make_gguf(const GgufParameters& own, const std::string& path, const ModelRequest& request) {
  const auto tokenizer = gguf_tokenizer(own.file, path + "/file", request.factory);
  const auto model = request.factory.shared(
      [](const std::string& file, const GgufOptions& options, const SharedPlace& place) {
        const auto read = gguf_tokenizer(file, place.path, place.factory);
        require_gguf_memory(*read, options, place.path);
        return GgufModel(read, options);
      },
      path + "/file", own.file, options_of(own));
  if (!own.tokens_of.empty()) return mapped(own, path, model, tokenizer, request);
  return {Model(model), gguf_vocabulary(own.file, own.chat, path + "/file", request.factory)};
}

}  // namespace

std::shared_ptr<const GgufTokenizer> gguf_tokenizer(const std::string& file, const std::string& path,
                                                    ModelFactory& factory) {
  try {
    return factory.shared([](const std::string& of, const SharedPlace&) { return GgufTokenizer(of); }, path,
                          file);
  } catch (const ModelError& error) {
    throw ConfigError(path, "{}{}", error.what(), remedy_of_missing(file));
  }
}

ModelKind gguf_model() {
  using P = GgufParameters;
  return kind_entry<ModelKind, P>(
      "gguf", "A neural language model from a GGUF file, run by libllama on the CPU (docs/neural.md).",
      {required(field("file", &P::file, input_file(), "The file: weights and tokenizer.")),
       with_unit(
           integer_field(
               "context", &P::context, 0, 1 << 20,
               "Most tokens of a text, prompt included; 0: as many as the model was trained for, at most 4096."),
           "tokens"),
       with_unit(
           integer_field(
               "batch", &P::batch, 0, 512,
               "Fixed number of tokens per run; shorter runs are padded. Rows then depend on their context alone, to the last bit; from 2 on, the rows of a round are computed together. 0: each run has the new tokens, and rows depend on which tokens share a run."),
           "tokens"),
       integer_field("threads", &P::threads, 1, 256, "Threads of one run."),
       with_unit(integer_field("kept_rows", &P::kept_rows, 0, 1 << 20,
                               "Memory for cached rows: a context that occurs again then costs no run."),
                 "MiB"),
       field("chat", &P::chat, boolean(),
             "The prompt's text is a user's message, put into the file's chat template."),
       field(
           "tokens_of", &P::tokens_of, input_file(),
           "For a draft with another tokenizer: the target's file. The text is tokenized again for the draft, and tokens with the same text are identified; all others get probability 0.")},
      make_gguf);
}

ModelConfig for_the_clock(const ModelConfig& model) {
  const GgufParameters* own = gguf_parameters(model);
  if (own == nullptr) return model;
  auto parameters = std::make_shared<GgufParameters>(*own);
  parameters->batch = own->batch.value_or(0);
  parameters->kept_rows = 0;
  ModelConfig clocked = model;
  clocked.parameters = std::move(parameters);
  return clocked;
}

void require_gguf_together(const ModelConfig& model, std::int32_t texts, ModelFactory& factory) {
  const GgufParameters* own = gguf_parameters(model);
  if (own == nullptr) return;
  if (own->batch.value_or(0) != 0) {
    throw ConfigError(model.path + "/batch",
                      "{} fixes the tokens of a run, and texts that are decoded together share "
                      "runs; leave it out for {} texts at once",
                      *own->batch, texts);
  }
  const auto tokenizer = gguf_tokenizer(own->file, model.path + "/file", factory);
  const double cache = GgufModel::cache_bytes(tokenizer->facts(), options_of(*own));
  constexpr double mega = 1e6;
  require_memory(cache * texts, model.path + "/context",
                 fmt::format("{}: a cache of {:.0f} MB for each of {} texts decoded together", own->file,
                             cache / mega, texts));
}

const GgufParameters* gguf_parameters(const ModelConfig& model) {
  static const KindInfo* const kind = model_family().find("gguf");
  return model.kind == kind ? &model.as<GgufParameters>() : nullptr;
}

}  // namespace speclab
