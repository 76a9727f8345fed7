#include "analysis/exact/context_chain.hpp"

#include <cassert>
#include <cmath>
#include <string>

#include "analysis/exact/enumeration_program.hpp"
#include "core/stop.hpp"

namespace speclab {

namespace chain_detail {

double checked_total(double total) {
  if (total > 0 && std::isfinite(total)) return total;
  throw ChainError("a model produced a row that holds NaN or infinity, or sums to 0");
}

}  // namespace chain_detail

namespace {

void add_entry(Transitions& rows, std::int32_t column, double probability) {
  if (!(probability > 0)) return;
  rows.column.push_back(column);
  rows.probabilities.push_back(probability);
}

void end_row(Transitions& rows) {
  rows.first.push_back(static_cast<std::int32_t>(rows.probabilities.size()));
}

/// Writes 1234567 as "1,234,567".
std::string grouped(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t place = text.size(); place > 3;) text.insert(place -= 3, ",");
  return text;
}

constexpr const char* remedy =
    "; keep fewer tokens per context (sampling top_k or top_p), or choose a smaller vocabulary or models of lower order";

}  // namespace

std::size_t ChainBuilder::Hash::operator()(const std::vector<Token>& tokens) const {
  std::uint64_t hash = tokens.size();
  for (const Token token : tokens) {
    hash = (hash ^ static_cast<std::uint32_t>(token)) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32U;
  }
  return static_cast<std::size_t>(hash);
}

ChainBuilder::ChainBuilder(int memory, std::span<const std::vector<Token>> prompts, const ChainLimits& limits,
                           TextKey key)
    : memory_(memory),
      kept_(key ? SIZE_MAX : static_cast<std::size_t>(memory)),
      limits_(limits),
      key_(std::move(key)) {
  assert(memory >= 0 && !prompts.empty() && limits.transitions < (std::size_t{1} << 31U));
  for (const std::vector<Token>& prompt : prompts) {
    const auto known = static_cast<std::ptrdiff_t>(std::min(kept_, prompt.size()));
    successor_.assign(prompt.end() - known, prompt.end());
    chain_.starts.push_back(index_of(successor_));
  }
}

std::int32_t ChainBuilder::index_of(const std::vector<Token>& context) {
  const auto [place, is_new] = index_.try_emplace(key_ ? key_(context) : context, chain_.size());
  if (is_new) {
    if (chain_.contexts.size() >= limits_.contexts) {
      throw ChainError("more than " + grouped(limits_.contexts) + " contexts of " + std::to_string(memory_) +
                       " tokens can occur (found after expanding " + grouped(next_) + " of them)" + remedy);
    }
    chain_.contexts.push_back(context);
  }
  return place->second;
}

void ChainBuilder::add(const PositionDistribution& distribution) {
  // `plain` and `bonus` share a matrix up to the first context where they differ.
  if (!chain_.other_plain && distribution.plain != distribution.bonus) chain_.other_plain = chain_.bonus;
  // The successors differ only in their last token.
  successor_ = chain_.contexts[next_];
  if (kept_ > 0) {
    if (successor_.size() == kept_) successor_.erase(successor_.begin());
    successor_.push_back(0);
  }
  for (std::size_t id = 0; id < distribution.plain.size(); ++id) {
    if (!(distribution.accepted[id] > 0 || distribution.corrected[id] > 0 || distribution.bonus[id] > 0 ||
          distribution.plain[id] > 0))
      continue;
    if (++chain_.transitions > limits_.transitions) {
      throw ChainError("more than " + grouped(limits_.transitions) +
                       " transitions can occur (found in the first " + grouped(next_) + " of " +
                       grouped(chain_.contexts.size()) + " contexts found so far)" + remedy);
    }
    if (kept_ > 0) successor_.back() = static_cast<Token>(id);
    const std::int32_t column = index_of(successor_);
    add_entry(chain_.accepted, column, distribution.accepted[id]);
    add_entry(chain_.corrected, column, distribution.corrected[id]);
    add_entry(chain_.bonus, column, distribution.bonus[id]);
    if (chain_.other_plain) add_entry(*chain_.other_plain, column, distribution.plain[id]);
  }
  end_row(chain_.accepted);
  end_row(chain_.corrected);
  end_row(chain_.bonus);
  if (chain_.other_plain) end_row(*chain_.other_plain);
  chain_.rejection.push_back(distribution.rejection);
  chain_.distance.push_back(distribution.distance);
  ++next_;
}

ContextChain ChainBuilder::take() && {
  assert(!unfinished());
  for (Transitions* rows : {&chain_.accepted, &chain_.corrected, &chain_.bonus})
    finish(*rows, limits_.dense_above);
  if (chain_.other_plain) finish(*chain_.other_plain, limits_.dense_above);
  return std::move(chain_);
}

ContextChain build_context_chain(ModelRef<double> target, ModelRef<double> draft, const EnumerableRule& rule,
                                 int memory, std::span<const std::vector<Token>> prompts,
                                 const ChainLimits& limits, const TextKey& key) {
  ChainBuilder builder(memory, prompts, limits, key);
  std::vector<double> target_scratch;
  std::vector<double> draft_scratch;
  PositionDistribution distribution;
  while (builder.unfinished()) {
    end_if_stopped();
    rule->describe_position(target.next(builder.context(), target_scratch),
                            draft.next(builder.context(), draft_scratch), distribution);
    builder.add(distribution);
  }
  return std::move(builder).take();
}

}  // namespace speclab
