#include "sim/text/gguf_tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/error.hpp"
#include "sim/text/utf8.hpp"

#ifdef SPECLAB_HAS_LLAMA
#include <array>
#include <fstream>
#include <mutex>

#include "core/distribution/number.hpp"
#include "sim/text/llama_library.hpp"
#endif

namespace speclab {

#ifdef SPECLAB_HAS_LLAMA

namespace {

/// The library's last error on this thread; its return values do not tell it.
std::string& last_llama_error() {
  thread_local std::string text;
  return text;
}

void prepare_llama() {
  static std::once_flag once;
  std::call_once(once, [] {
    llama_log_set(
        [](ggml_log_level level, const char* text, void*) {
          if (level == GGML_LOG_LEVEL_ERROR) last_llama_error() = text;
        },
        nullptr);
    llama_backend_init();
  });
}

void require_gguf(const std::filesystem::path& file) {
  std::array<char, 4> magic{};
  // Opening a pipe would wait for its writer.
  const bool opens = std::filesystem::is_regular_file(file);
  if (!opens || !std::ifstream(file, std::ios::binary).read(magic.data(), magic.size()))
    throw ModelError(fmt::format("{}: cannot be read", file.string()));
  if (std::string_view(magic.data(), magic.size()) != "GGUF") {
    throw ModelError(
        fmt::format("{}: is not a GGUF file: it begins with other bytes than \"GGUF\"", file.string()));
  }
}

/// Returns a value of the file's metadata as text; empty if it is not there.
std::string metadata(const llama_model* model, const std::string& key) {
  std::array<char, 256> text{};
  const std::int32_t length = llama_model_meta_val_str(model, key.c_str(), text.data(), text.size());
  return length < 0 ? std::string() : std::string(text.data());
}

std::string printed(std::string_view piece) {
  std::string out;
  while (!piece.empty()) {
    const std::size_t length = utf8_length(piece);
    const auto byte = static_cast<unsigned char>(piece.front());
    if (byte == ' ') {
      out += "\u2581";
    } else if (length == 0 || byte < ' ' || byte == 127) {
      out += fmt::format("<0x{:02X}>", byte);
    } else {
      out += piece.substr(0, length);
    }
    piece.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::optional<Token> token_if_any(llama_token token) {
  return token == LLAMA_TOKEN_NULL ? std::nullopt : std::optional<Token>(token);
}

}  // namespace

bool has_libllama() { return true; }

std::shared_ptr<llama_model> load_llama_model(const std::filesystem::path& file, bool vocabulary_only) {
  prepare_llama();
  require_gguf(file);
  last_llama_error().clear();
  llama_model_params parameters = llama_model_default_params();
  parameters.n_gpu_layers = 0;
  parameters.vocab_only = vocabulary_only;
  // Keeps weights in the file's form: other forms need special instructions, and some of these (AMX) are
  // reported by virtual machines that do not allow them.
  parameters.use_extra_bufts = false;
  std::shared_ptr<llama_model> model(llama_model_load_from_file(file.c_str(), parameters), llama_model_free);
  if (!model) {
    std::string reason = last_llama_error();
    while (!reason.empty() && reason.back() == '\n') reason.pop_back();
    throw ModelError(
        fmt::format("{}: libllama cannot load it: {}", file.string(), reason.empty() ? "no reason" : reason));
  }
  return model;
}

GgufTokenizer::GgufTokenizer(const std::filesystem::path& file) : file_(file) {
  const std::shared_ptr<llama_model> model = load_llama_model(file, true);
  model_ = model;
  const llama_vocab* vocabulary = llama_model_get_vocab(model_.get());
  size_ = llama_vocab_n_tokens(vocabulary);
  if (size_ <= 0 || llama_vocab_type(vocabulary) == LLAMA_VOCAB_TYPE_NONE)
    throw ModelError(fmt::format("{}: has no tokenizer", file.string()));
  if (llama_model_has_encoder(model.get()) || llama_model_is_diffusion(model.get())) {
    throw ModelError(
        fmt::format("{}: is not a model that continues a text from left to right", file.string()));
  }
  if (llama_vocab_get_add_bos(vocabulary)) start_ = token_if_any(llama_vocab_bos(vocabulary));
  for_nothing_ = token_if_any(llama_vocab_bos(vocabulary));
  if (!for_nothing_) for_nothing_ = token_if_any(llama_vocab_eos(vocabulary));

  facts_.architecture = metadata(model.get(), "general.architecture");
  facts_.file_bytes = static_cast<double>(std::filesystem::file_size(file));
  // A value may be missing, or a list.
  const auto of_architecture = [&](const std::string& key, double otherwise) {
    return parsed<double>(metadata(model.get(), facts_.architecture + "." + key)).value_or(otherwise);
  };
  // A damaged file may claim any number.
  facts_.trained_context =
      static_cast<std::int32_t>(std::clamp(of_architecture("context_length", 0), 0.0, double{INT32_MAX}));
  const double heads = std::max(of_architecture("attention.head_count", 1), 1.0);
  const double width = of_architecture("embedding_length", 0) / heads;
  const double each =
      of_architecture("attention.key_length", width) + of_architecture("attention.value_length", width);
  facts_.cache_bytes = of_architecture("block_count", 0) * of_architecture("attention.head_count_kv", heads) *
                       each * sizeof(float);
}

std::string GgufTokenizer::text(Token token) const {
  const llama_vocab* vocabulary = llama_model_get_vocab(model_.get());
  std::string piece(32, '\0');
  const auto write = [&] {
    return llama_token_to_piece(vocabulary, token, piece.data(), static_cast<std::int32_t>(piece.size()), 0,
                                true);
  };
  std::int32_t length = write();
  if (length < 0) {
    piece.resize(static_cast<std::size_t>(-length));
    length = write();
  }
  piece.resize(static_cast<std::size_t>(std::max(length, 0)));
  // A token without text is printed by its name in the file.
  return printed(piece.empty() ? llama_vocab_get_text(vocabulary, token) : piece);
}

std::vector<Token> GgufTokenizer::coded(std::string_view text, bool special) const {
  const llama_vocab* vocabulary = llama_model_get_vocab(model_.get());
  std::vector<Token> tokens(text.size() / 2 + 16);
  const auto code = [&] {
    return llama_tokenize(vocabulary, text.data(), static_cast<std::int32_t>(text.size()), tokens.data(),
                          static_cast<std::int32_t>(tokens.size()), false, special);
  };
  std::int32_t count = code();
  if (count < 0 && count != INT32_MIN) {
    tokens.resize(static_cast<std::size_t>(-count));
    count = code();
  }
  if (count < 0) throw ModelError(fmt::format("{}: its tokenizer cannot code the text", file_.string()));
  tokens.resize(static_cast<std::size_t>(count));
  return tokens;
}

std::vector<Token> GgufTokenizer::tokens(std::string_view text) const { return coded(text, false); }

std::vector<Token> GgufTokenizer::chat(std::string_view text) const {
  const char* form = llama_model_chat_template(model_.get(), nullptr);
  if (form == nullptr) throw ModelError(fmt::format("{}: has no chat template", file_.string()));
  const std::string message(text);
  const llama_chat_message said{"user", message.c_str()};
  std::string whole(2 * message.size() + 256, '\0');
  const auto apply = [&] {
    return llama_chat_apply_template(form, &said, 1, true, whole.data(),
                                     static_cast<std::int32_t>(whole.size()));
  };
  std::int32_t length = apply();
  if (length > static_cast<std::int32_t>(whole.size())) {
    whole.resize(static_cast<std::size_t>(length));
    length = apply();
  }
  if (length < 0) {
    throw ModelError(
        fmt::format("{}: libllama does not know its chat template; write the prompt as the model wants it",
                    file_.string()));
  }
  whole.resize(static_cast<std::size_t>(length));
  return coded(whole, true);
}

std::string GgufTokenizer::join(std::span<const Token> tokens) const {
  const llama_vocab* vocabulary = llama_model_get_vocab(model_.get());
  std::string text(tokens.size() * 8 + 16, '\0');
  const auto write = [&] {
    return llama_detokenize(vocabulary, tokens.data(), static_cast<std::int32_t>(tokens.size()), text.data(),
                            static_cast<std::int32_t>(text.size()), false, true);
  };
  std::int32_t length = write();
  if (length < 0) {
    text.resize(static_cast<std::size_t>(-length));
    length = write();
  }
  text.resize(static_cast<std::size_t>(std::max(length, 0)));
  return text;
}

#else

namespace {
[[noreturn]] void without_llama(const std::filesystem::path& file) {
  throw ModelError(fmt::format("{}: neural models need libllama: run scripts/setup.sh neural and build again",
                               file.string()));
}
}  // namespace

bool has_libllama() { return false; }

GgufTokenizer::GgufTokenizer(const std::filesystem::path& file) { without_llama(file); }
std::string GgufTokenizer::text(Token) const { without_llama(file_); }
std::vector<Token> GgufTokenizer::tokens(std::string_view) const { without_llama(file_); }
std::vector<Token> GgufTokenizer::chat(std::string_view) const { without_llama(file_); }
std::string GgufTokenizer::join(std::span<const Token>) const { without_llama(file_); }

#endif

}  // namespace speclab
