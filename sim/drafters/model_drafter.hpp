// Drafts with a smaller model, run once for each token (Leviathan et al. 2023, Alg. 1), and without a run the
// tokens that the grammar of a request forces (JustVugg/colibri#48; "jump-forward" in SGLang).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/distribution/grammar.hpp"
#include "core/distribution/request_options.hpp"
#include "sim/adaptive_drafting.hpp"
#include "sim/drafters/point_rows.hpp"
#include "sim/models/model.hpp"
#include "sim/models/request_model.hpp"

namespace speclab {

/// A token is forced if the grammar allows no other after the tokens that follow the prompt, which is the
/// context of a Memory's first read. A forced token is proposed as a point mass; a target under this grammar
/// emits it with probability 1. Elsewhere the model's row is proposed, filtered as its own options say, or
/// nothing if there is no model.
///
/// With a grammar or options that remember, the time of propose is proportional to the emitted tokens, as is
/// that of the filtered target's row.
class ModelDrafter {
 public:
  struct Memory {
    std::optional<std::size_t> prompt;  ///< its length, once it is read
    bool forced = false;                ///< the token proposed last
    RequestScratch filters = {};
  };

  /// Options that do not remember must already be part of the model. Without a grammar nothing is forced.
  explicit ModelDrafter(Model model, RequestLaw remembered = {}, Grammar grammar = {})
      : model_(std::move(model)),
        remembered_(std::move(remembered)),
        grammar_(std::move(grammar)),
        points_(model_->vocab()) {}
  /// Drafts only what the grammar forces.
  ModelDrafter(std::int32_t vocab, Grammar grammar) : grammar_(std::move(grammar)), points_(vocab) {}

  void read(Memory& memory, std::span<const Token> context) const {
    if (!memory.prompt) memory.prompt = context.size();
  }
  Row propose(Memory& memory, std::span<const Token> context, std::int32_t,
              std::vector<double>& storage) const {
    const std::optional<Token> token = forced(memory, context);
    memory.forced = token.has_value();
    if (token) return points_[*token];
    if (!model_) return {};
    if (!remembered_.remembers()) return model_->next(context, storage);
    return filtered_row(*model_, remembered_, *memory.prompt, context, storage, memory.filters);
  }

  /// Returns 0 if the number of drafted tokens does not determine the runs.
  std::int32_t runs(std::int32_t drafted) const { return model_ && grammar_.empty() ? drafted : 0; }
  Drafted largest(std::int32_t most) const { return {most, model_ ? most : 0}; }

  /// Drafts one token, and counts a run if it was not forced.
  template <class Random>
  void extend(Memory& memory, std::vector<Token>& context, Random& random, RoundScratch<double>& scratch,
              Drafted& done) const {
    const std::int32_t before = done.count;
    draft_one(*this, memory, context, random, scratch, done);
    if (done.count > before && !memory.forced) ++done.runs;
  }

 private:
  std::optional<Token> forced(const Memory& memory, std::span<const Token> context) const {
    if (grammar_.empty()) return std::nullopt;
    return state_after(grammar_, context.subspan(*memory.prompt)).forced();
  }

  std::optional<Model> model_ = {};
  RequestLaw remembered_ = {};  ///< options whose rows depend on all tokens after the prompt
  Grammar grammar_ = {};
  PointRows points_;
};

}  // namespace speclab
