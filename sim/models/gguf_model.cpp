#include "sim/models/gguf_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/error.hpp"
#include "sim/models/logits.hpp"

#ifdef SPECLAB_HAS_LLAMA
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "sim/models/gguf_session.hpp"
#include "sim/models/kept_logits.hpp"
#include "sim/models/runs_together.hpp"
#include "sim/parallel.hpp"
#endif

namespace speclab {

namespace {

std::int32_t max_tokens(const GgufFacts& facts, const GgufOptions& options) {
  constexpr std::int32_t usual = 4096;
  if (options.context > 0) return options.context;
  return facts.trained_context > 0 ? std::min(facts.trained_context, usual) : usual;
}

}  // namespace

double GgufModel::cache_bytes(const GgufFacts& facts, const GgufOptions& options) {
  return facts.cache_bytes * (max_tokens(facts, options) + options.batch);
}

#ifdef SPECLAB_HAS_LLAMA

/// State shared by copies of a model: weights, one session per calling thread, and cached rows.
class GgufModel::Engine final : public RunsTogether {
 public:
  Engine(std::shared_ptr<const GgufTokenizer> tokenizer, const GgufOptions& options)
      : tokenizer_(std::move(tokenizer)),
        options_(options),
        max_context_(max_tokens(tokenizer_->facts(), options)),
        model_(load_llama_model(tokenizer_->file(), false)),
        kept_(options.kept_rows, static_cast<std::size_t>(tokenizer_->size())) {}

  const GgufTokenizer& tokenizer() const { return *tokenizer_; }
  const GgufOptions& options() const { return options_; }
  std::int32_t max_context() const { return max_context_; }

  /// Calls `use(logits)` with the logits after a context.
  template <class Use>
  void with_logits(std::span<const Token> context, const Use& use) {
    const std::vector<Token> tokens = seen_by_model(context);
    if (const TogetherPlace place = together_place(); place.texts > 0)
      return use(run_with_others(place, tokens, tokens.size()).logits(tokens.size(), place.text));
    if (kept_.on()) {
      if (const auto found = kept_.find(tokens)) return use(*found);
    }
    const Lease lease(*this);
    const TextRun run{0, tokens, tokens.size()};
    lease->run({&run, 1});
    const std::vector<float>& logits = lease->logits(tokens.size());
    if (kept_.on()) kept_.add(tokens, logits);
    use(logits);
  }

  void prepare(std::span<const Token> context, std::size_t first) {
    const std::vector<Token> tokens = seen_by_model(context);
    const std::size_t from = std::max<std::size_t>(first + (tokens.size() - context.size()), 1);
    if (const TogetherPlace place = together_place(); place.texts > 0) {
      run_with_others(place, tokens, from);
      return;
    }
    const Lease lease(*this);
    const TextRun run{0, tokens, from};
    lease->run({&run, 1});
  }

  void run_together(std::span<const TextRun> runs, std::size_t texts) override {
    session_of(texts).run(runs);
  }

 private:
  /// Reserves a session for one caller.
  class Lease {
   public:
    explicit Lease(Engine& engine) : engine_(engine), session_(engine.take()) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { engine_.give_back(session_); }
    GgufSession* operator->() const { return &session_; }

   private:
    Engine& engine_;
    GgufSession& session_;
  };

  /// Returns the session for `texts` texts that are decoded together, used by one thread at a time.
  GgufSession& session_of(std::size_t texts) {
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<GgufSession>& session = together_[texts];
    if (!session) session = std::make_unique<GgufSession>(model_, options_, session_tokens(), texts);
    return *session;
  }

  /// Returns a session that knows the logits after the first `from` tokens and all later ones.
  const GgufSession& run_with_others(const TogetherPlace& place, std::span<const Token> tokens,
                                     std::size_t from) {
    const GgufSession& session = session_of(place.texts);
    if (!session.knows({place.text, tokens, from})) wait_for_run(*this, tokens, from);
    return session;
  }

  std::int32_t session_tokens() const { return max_context_ + (tokenizer_->start() ? 1 : 0); }

  std::vector<Token> seen_by_model(std::span<const Token> context) const {
    if (context.size() > static_cast<std::size_t>(max_context_)) {
      throw ModelError(fmt::format(
          "{}: a text has {} tokens, including its prompt, but the model's context is {}. Decode fewer tokens, or give a larger \"context\" (the model was trained for {})",
          tokenizer_->file().string(), context.size(), max_context_, tokenizer_->facts().trained_context));
    }
    std::vector<Token> tokens;
    tokens.reserve(context.size() + 1);
    const auto start = context.empty() ? tokenizer_->for_nothing() : tokenizer_->start();
    if (start) tokens.push_back(*start);
    tokens.insert(tokens.end(), context.begin(), context.end());
    if (tokens.empty()) {
      throw ModelError(fmt::format(
          "{}: defines no token for the beginning of a text, so it cannot start without a prompt; give one",
          tokenizer_->file().string()));
    }
    return tokens;
  }

  /// Returns the last session that this thread used, or else a new one, or else the least recently used one.
  GgufSession& take() {
    std::unique_lock lock(mutex_);
    const auto most = static_cast<std::size_t>(concurrency()) + 1;
    for (;;) {
      GgufSession* best = nullptr;
      for (const auto& session : sessions_) {
        if (session->busy) continue;
        const bool own = session->user == std::this_thread::get_id();
        if (own || best == nullptr || session->used < best->used) best = session.get();
        if (own) break;
      }
      const bool own = best != nullptr && best->user == std::this_thread::get_id();
      if (!own && sessions_.size() < most) {
        best =
            sessions_.emplace_back(std::make_unique<GgufSession>(model_, options_, session_tokens())).get();
      }
      if (best != nullptr) {
        best->busy = true;
        best->user = std::this_thread::get_id();
        best->used = ++uses_;
        return *best;
      }
      free_.wait(lock);
    }
  }

  void give_back(GgufSession& session) {
    {
      const std::scoped_lock lock(mutex_);
      session.busy = false;
    }
    free_.notify_one();
  }

  std::shared_ptr<const GgufTokenizer> tokenizer_;
  GgufOptions options_;
  std::int32_t max_context_;
  std::shared_ptr<llama_model> model_;
  LogitsOfTexts kept_;
  std::mutex mutex_;
  std::condition_variable free_;
  std::vector<std::unique_ptr<GgufSession>> sessions_;
  std::map<std::size_t, std::unique_ptr<GgufSession>> together_;  ///< by number of texts
  std::uint64_t uses_ = 0;
};

GgufModel::GgufModel(std::shared_ptr<Engine> engine, const Adjustment& how)
    : engine_(std::move(engine)), how_(how) {}

GgufModel::GgufModel(std::shared_ptr<const GgufTokenizer> tokenizer, const GgufOptions& options)
    : engine_(std::make_shared<Engine>(std::move(tokenizer), options)) {}

std::int32_t GgufModel::vocab() const { return engine_->tokenizer().size(); }

Row GgufModel::next(std::span<const Token> context, std::vector<double>& scratch) const {
  engine_->with_logits(context, [&](const std::vector<float>& logits) {
    scratch.resize(logits.size());
    row_of_logits(logits, how_, scratch);
  });
  // If one logit is NaN, the whole row is.
  if (std::isnan(scratch.front())) {
    throw ModelError(fmt::format(
        "{}: its row after {} tokens holds NaN; the file is damaged, or the model's weights overflow its arithmetic",
        engine_->tokenizer().file().string(), context.size()));
  }
  return {scratch.data(), static_cast<std::int32_t>(scratch.size())};
}

void GgufModel::prepare(std::span<const Token> context, std::size_t first) const {
  engine_->prepare(context, first);
}

bool GgufModel::prepares() const { return engine_->options().batch != 1; }

std::size_t GgufModel::max_context() const { return static_cast<std::size_t>(engine_->max_context()); }

std::optional<GgufModel> GgufModel::adjusted(const Adjustment& how) const {
  if (!how_.identity()) return std::nullopt;
  return GgufModel(engine_, how);
}

#else

class GgufModel::Engine {};

namespace {
[[noreturn]] void never_made() { throw ModelError("neural models need libllama"); }
}  // namespace

GgufModel::GgufModel(std::shared_ptr<const GgufTokenizer>, const GgufOptions&) { never_made(); }
std::int32_t GgufModel::vocab() const { never_made(); }
Row GgufModel::next(std::span<const Token>, std::vector<double>&) const { never_made(); }
void GgufModel::prepare(std::span<const Token>, std::size_t) const { never_made(); }
bool GgufModel::prepares() const { never_made(); }
std::size_t GgufModel::max_context() const { never_made(); }
std::optional<GgufModel> GgufModel::adjusted(const Adjustment&) const { never_made(); }

#endif

}  // namespace speclab
