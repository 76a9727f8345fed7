#ifdef SPECLAB_HAS_LLAMA

#include "sim/models/gguf_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "sim/error.hpp"
#include "sim/models/gguf_model.hpp"

namespace speclab {

namespace {

void add_to(llama_batch& batch, Token token, std::size_t position, bool wanted) {
  const auto at = static_cast<std::size_t>(batch.n_tokens++);
  batch.token[at] = token;
  batch.pos[at] = static_cast<llama_pos>(position);
  batch.n_seq_id[at] = 1;
  batch.seq_id[at][0] = 0;
  batch.logits[at] = wanted ? 1 : 0;
}

/// Tokens of a run where the batch is not fixed.
constexpr std::size_t largest_run = 512;

}  // namespace

GgufSession::GgufSession(const std::shared_ptr<llama_model>& model, const GgufOptions& options,
                         std::int32_t context)
    : model_(model),
      vocab_(static_cast<std::size_t>(llama_vocab_n_tokens(llama_model_get_vocab(model.get())))),
      most_(options.batch == 0 ? largest_run : static_cast<std::size_t>(options.batch)),
      fixed_(options.batch != 0),
      batch_(llama_batch_init(static_cast<std::int32_t>(most_), 0, 1)) {
  llama_context_params parameters = llama_context_default_params();
  const auto most = static_cast<std::uint32_t>(most_);
  parameters.n_ctx = static_cast<std::uint32_t>(context) + (fixed_ ? most : 0);
  parameters.n_batch = most;
  parameters.n_ubatch = most;
  parameters.n_seq_max = 1;
  parameters.n_threads = options.threads;
  parameters.n_threads_batch = options.threads;
  // Sums in full precision and in the order of the cache's cells, so that a row depends on its context alone.
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

bool GgufSession::knows(std::size_t length) const {
  return std::any_of(known_.begin(), known_.end(),
                     [&](const KnownLogits& one) { return one.length == length; });
}

const std::vector<float>& GgufSession::logits(std::size_t length) const {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const KnownLogits& one) { return one.length == length; });
  assert(found != known_.end());
  return found->values;
}

/// Forgets what is cached after `length` tokens, and logits but those after `first` to `length` tokens.
void GgufSession::keep(std::size_t length, std::size_t first) {
  if (length < cached_.size()) {
    llama_memory_t memory = llama_get_memory(context_.get());
    // Recurrent models cannot go back, but from the start.
    if (length == 0 || !llama_memory_seq_rm(memory, 0, static_cast<llama_pos>(length), -1)) {
      llama_memory_clear(memory, false);
      length = 0;
    }
    cached_.resize(length);
  }
  std::vector<KnownLogits> still;
  for (KnownLogits& one : known_) {
    if (one.length >= first && one.length <= length) {
      still.push_back(std::move(one));
    } else {
      spare_.push_back(std::move(one.values));
    }
  }
  known_ = std::move(still);
}

void GgufSession::run(std::span<const Token> tokens, std::size_t first) {
  assert(0 < first && first <= tokens.size());
  const auto shared = static_cast<std::size_t>(
      std::mismatch(cached_.begin(), cached_.end(), tokens.begin(), tokens.end()).first - cached_.begin());
  std::size_t missing = first;
  while (missing <= std::min(shared, tokens.size()) && knows(missing)) ++missing;
  if (missing > tokens.size()) return;
  keep(std::min(shared, missing - 1), first);
  while (cached_.size() < tokens.size()) {
    const std::size_t count = std::min(most_, tokens.size() - cached_.size());
    decode(tokens.subspan(cached_.size(), count), first);
  }
}

void GgufSession::decode(std::span<const Token> tokens, std::size_t first) {
  const std::size_t start = cached_.size();
  const std::size_t end = start + tokens.size();
  // A run of fixed shape gives the logits after all of its tokens, or after none.
  const bool wanted = end >= first;
  batch_.n_tokens = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    add_to(batch_, tokens[i], start + i, wanted && (fixed_ || start + i + 1 >= first));
  }
  if (fixed_) {
    for (std::size_t i = tokens.size(); i < most_; ++i) add_to(batch_, tokens.back(), start + i, wanted);
  }
  const std::int32_t status = llama_decode(context_.get(), batch_);
  if (status != 0) {
    llama_memory_clear(llama_get_memory(context_.get()), false);
    cached_.clear();
    keep(0, 1);
    throw ModelError(
        fmt::format("libllama cannot run {} tokens after {} (status {})", tokens.size(), start, status));
  }
  cached_.insert(cached_.end(), tokens.begin(), tokens.end());
  if (fixed_ && tokens.size() < most_) {
    llama_memory_seq_rm(llama_get_memory(context_.get()), 0, static_cast<llama_pos>(end), -1);
  }
  for (std::size_t length = std::max(first, start + 1); length <= end; ++length) {
    const float* row = llama_get_logits_ith(context_.get(), static_cast<std::int32_t>(length - start - 1));
    KnownLogits& made = known_.emplace_back();
    made.length = length;
    if (!spare_.empty()) {
      made.values = std::move(spare_.back());
      spare_.pop_back();
    }
    made.values.assign(row, row + vocab_);
  }
}

}  // namespace speclab

#endif
