#ifdef SPECLAB_HAS_LLAMA

#include "sim/models/gguf_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "sim/error.hpp"
#include "sim/models/gguf_model.hpp"

namespace speclab {

namespace {

void add_to(llama_batch& batch, std::size_t text, Token token, std::size_t position, bool wanted) {
  const auto at = static_cast<std::size_t>(batch.n_tokens++);
  batch.token[at] = token;
  batch.pos[at] = static_cast<llama_pos>(position);
  batch.n_seq_id[at] = 1;
  batch.seq_id[at][0] = static_cast<llama_seq_id>(text);
  batch.logits[at] = wanted ? 1 : 0;
}

/// Returns how many tokens at a run's beginning the cache holds.
std::size_t shared_tokens(const std::vector<Token>& cached, std::span<const Token> tokens) {
  return static_cast<std::size_t>(
      std::mismatch(cached.begin(), cached.end(), tokens.begin(), tokens.end()).first - cached.begin());
}

/// Maximum of tokens of a run if the batch is not fixed.
constexpr std::size_t largest_run = 512;

}  // namespace

GgufSession::GgufSession(const std::shared_ptr<llama_model>& model, const GgufOptions& options,
                         std::int32_t context, std::size_t texts)
    : model_(model),
      vocab_(static_cast<std::size_t>(llama_vocab_n_tokens(llama_model_get_vocab(model.get())))),
      max_(options.batch == 0 ? largest_run : static_cast<std::size_t>(options.batch)),
      fixed_(options.batch != 0),
      batch_(llama_batch_init(static_cast<std::int32_t>(max_), 0, 1)),
      texts_(texts) {
  assert(texts == 1 || !fixed_);
  llama_context_params parameters = llama_context_default_params();
  const auto most = static_cast<std::uint32_t>(max_);
  parameters.n_ctx =
      static_cast<std::uint32_t>(context) * static_cast<std::uint32_t>(texts) + (fixed_ ? most : 0);
  parameters.n_batch = most;
  parameters.n_ubatch = most;
  parameters.n_seq_max = static_cast<std::uint32_t>(texts);
  // All texts share one cache: with separate caches, a run of texts with different numbers of tokens would be
  // cut.
  parameters.kv_unified = texts > 1;
  parameters.n_threads = options.threads;
  parameters.n_threads_batch = options.threads;
  // Sums are in full precision and in the order of the cache's cells, so that a row depends on its context
  // alone.
  parameters.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  parameters.type_k = GGML_TYPE_F32;
  parameters.type_v = GGML_TYPE_F32;
  parameters.swa_full = true;  // a window that has moved on could not be rolled back
  parameters.no_perf = true;
  context_.reset(llama_init_from_model(model_.get(), parameters));
  if (!context_) {
    llama_batch_free(batch_);
    throw ModelError("libllama cannot make a context; give a shorter \"context\"");
  }
}

GgufSession::~GgufSession() { llama_batch_free(batch_); }

const GgufSession::KnownLogits* GgufSession::CachedText::find(std::size_t length) const {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const KnownLogits& one) { return one.length == length; });
  return found == known.end() ? nullptr : &*found;
}

const std::vector<float>& GgufSession::logits(std::size_t length, std::size_t text) const {
  const KnownLogits* found = texts_[text].find(length);
  assert(found != nullptr);
  return found->values;
}

/// Returns the first length whose logits must be computed; more than all tokens if none must.
std::size_t GgufSession::first_missing(const CachedText& cached, const TextRun& run) {
  assert(0 < run.first && run.first <= run.tokens.size());
  const std::size_t shared = shared_tokens(cached.tokens, run.tokens);
  std::size_t missing = run.first;
  while (missing <= std::min(shared, run.tokens.size()) && cached.find(missing) != nullptr) ++missing;
  return missing;
}

bool GgufSession::knows(const TextRun& run) const {
  return first_missing(texts_[run.text], run) > run.tokens.size();
}

/// Drops the cached tokens of a text after `length` tokens, and all logits except those after `first` to
/// `length` tokens.
void GgufSession::keep(std::size_t text, std::size_t length, std::size_t first) {
  CachedText& cached = texts_[text];
  if (length < cached.tokens.size()) {
    llama_memory_t memory = llama_get_memory(context_.get());
    const auto id = static_cast<llama_seq_id>(text);
    // Recurrent models can only go back to the start.
    if (length == 0 || !llama_memory_seq_rm(memory, id, static_cast<llama_pos>(length), -1)) {
      llama_memory_seq_rm(memory, id, -1, -1);
      length = 0;
    }
    cached.tokens.resize(length);
  }
  std::vector<KnownLogits> still;
  for (KnownLogits& one : cached.known) {
    if (one.length >= first && one.length <= length) {
      still.push_back(std::move(one));
    } else {
      spare_.push_back(std::move(one.values));
    }
  }
  cached.known = std::move(still);
}

void GgufSession::forget_all() {
  llama_memory_clear(llama_get_memory(context_.get()), false);
  for (CachedText& cached : texts_) cached = {};
}

void GgufSession::run(std::span<const TextRun> runs) {
  std::vector<TextRun> open;
  for (const TextRun& run : runs) {
    const CachedText& cached = texts_[run.text];
    const std::size_t missing = first_missing(cached, run);
    if (missing > run.tokens.size()) continue;
    keep(run.text, std::min(shared_tokens(cached.tokens, run.tokens), missing - 1), run.first);
    open.push_back(run);
  }
  while (!open.empty()) {
    decode(open);
    std::erase_if(open,
                  [&](const TextRun& run) { return texts_[run.text].tokens.size() == run.tokens.size(); });
  }
}

/// Makes one run over the next tokens of these texts, as many as a run may have.
void GgufSession::decode(std::span<const TextRun> runs) {
  struct Part {
    const TextRun* run;
    std::size_t at;     ///< place of the part in the batch
    std::size_t start;  ///< tokens cached before the run
    std::size_t end;    ///< tokens cached after the run
  };
  std::vector<Part> parts;
  batch_.n_tokens = 0;
  for (const TextRun& run : runs) {
    const auto at = static_cast<std::size_t>(batch_.n_tokens);
    if (at == max_) break;
    const std::size_t start = texts_[run.text].tokens.size();
    const std::size_t end = std::min(run.tokens.size(), start + max_ - at);
    // A run of fixed shape gives the logits after all of its tokens, or after none.
    const bool wanted = end >= run.first;
    for (std::size_t i = start; i < end; ++i)
      add_to(batch_, run.text, run.tokens[i], i, wanted && (fixed_ || i + 1 >= run.first));
    for (std::size_t i = end; fixed_ && i < start + max_; ++i)
      add_to(batch_, run.text, run.tokens[end - 1], i, wanted);
    parts.push_back({&run, at, start, end});
  }
  const std::int32_t status = llama_decode(context_.get(), batch_);
  if (status != 0) {
    const Part& first = parts.front();
    forget_all();
    throw ModelError(fmt::format("libllama cannot run {} tokens after {} (status {})", batch_.n_tokens,
                                 first.start, status));
  }
  for (const Part& part : parts) {
    const TextRun& run = *part.run;
    CachedText& cached = texts_[run.text];
    cached.tokens.insert(cached.tokens.end(), run.tokens.begin() + static_cast<std::ptrdiff_t>(part.start),
                         run.tokens.begin() + static_cast<std::ptrdiff_t>(part.end));
    if (fixed_ && part.end - part.start < max_) {
      llama_memory_seq_rm(llama_get_memory(context_.get()), static_cast<llama_seq_id>(run.text),
                          static_cast<llama_pos>(part.end), -1);
    }
    for (std::size_t length = std::max(run.first, part.start + 1); length <= part.end; ++length) {
      const float* row =
          llama_get_logits_ith(context_.get(), static_cast<std::int32_t>(part.at + length - part.start - 1));
      KnownLogits& made = cached.known.emplace_back();
      made.length = length;
      if (!spare_.empty()) {
        made.values = std::move(spare_.back());
        spare_.pop_back();
      }
      made.values.assign(row, row + vocab_);
    }
  }
}

}  // namespace speclab

#endif
