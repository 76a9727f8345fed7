// Runs one round of a rule that reads all V probabilities of a row, by its verification from totals
// (core/fast/drafted_nodes.hpp). sim/fast runs the same program for many sequences at once. Here rows are
// dense and each total is a pass over them, so that the enumerator can prove that the output distribution is
// that of the rule's own round (core/round). Host only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/fast/whole_row_forms.hpp"
#include "core/round/round.hpp"

namespace speclab {

/// The target's row over the tokens with p/q > t.
template <class Real>
struct RowAbove {
  using value_type = Real;
  BasicRow<Real> target;
  BasicRow<Real> draft;
  Real threshold;
  std::int32_t size = target.size;

  /// Returns the weight of a token: p if p/q is above the threshold, else 0. It compares ratios, because the
  /// threshold is itself the ratio of a token; products would be rounded and could admit that token.
  Real operator[](Token id) const {
    const ProbabilityRatio<Real> ratio(target[id], draft[id]);
    return ratio.infinite || threshold < ratio.value ? target[id] : Real(0);
  }
};

/// The tokens of one round by node, with the draft's and the target's rows.
template <class Real, class Target, class Draft>
class DraftedRows {
 public:
  DraftedRows(const Target& target, const Draft& draft, const DraftedShape& shape, std::int32_t gamma,
              std::vector<Token> context)
      : target_(target),
        draft_(draft),
        shape_(shape),
        context_(std::move(context)),
        tokens_(static_cast<std::size_t>(shape.tree.size()), no_token),
        draws_(tokens_.size()),
        p_(tokens_.size()),
        q_(tokens_.size()),
        left_(tokens_.size(), Real(1)) {
    for (std::int32_t node = 0; node < shape.tree.size(); ++node) {
      if (shape.tree.depth(node) <= gamma) tokens_[static_cast<std::size_t>(node)] = undrafted_token;
    }
  }

  /// Drafts a node whose parent and earlier siblings are drafted. A sibling without replacement is drawn from
  /// the draft's row until it differs from its earlier siblings; after `proposals` failures it is drawn from
  /// the rest of the row. The distribution is the same for any number. Returns false if a row is invalid.
  template <class Random>
  bool draw(std::int32_t node, std::uint32_t proposals, Random& random) {
    const auto at = static_cast<std::size_t>(node);
    const std::int32_t parent = shape_.tree.parent(node);
    const std::vector<Real> q = row(draft_, parent);
    std::vector<Real> left = q;
    const auto& siblings = shape_.tree.children(parent);
    for (auto sibling = siblings.begin(); shape_.distinct && *sibling != node; ++sibling) {
      if (token(*sibling) >= 0) left[static_cast<std::size_t>(token(*sibling))] = Real(0);
    }
    draws_[at] = Draw{Use::draft, static_cast<std::uint16_t>(node)};
    const bool first = !shape_.distinct || siblings.front() == node;
    if (!first)
      left_[at] = total_probability(BasicRow<Real>{left.data(), static_cast<std::int32_t>(left.size())});
    const auto propose = [&](const std::vector<Real>& weights) {
      const auto size = static_cast<std::int32_t>(weights.size());
      tokens_[at] = random.categorical(draws_[at], BasicRow<Real>{weights.data(), size});
      return tokens_[at] >= 0;
    };
    for (; !first && draws_[at].attempt < proposals; ++draws_[at].attempt) {
      if (!propose(q)) return false;
      if (left[static_cast<std::size_t>(tokens_[at])] > Real(0)) return set_probabilities(node, q);
    }
    if (!propose(left)) return tokens_[at] == no_token && !first;
    return set_probabilities(node, q);
  }

  /// Drafts the tokens that verification never read, because they count as drafted.
  template <class Random>
  bool complete(std::uint32_t proposals, Random& random) {
    for (std::int32_t node = 0; node < shape_.tree.size(); ++node) {
      if (token(node) != undrafted_token) continue;
      const std::int32_t parent = shape_.tree.parent(node);
      if (parent >= 0 && token(parent) < 0) {
        tokens_[static_cast<std::size_t>(node)] = no_token;
      } else if (!draw(node, proposals, random)) {
        return false;
      }
    }
    return true;
  }

  /// Returns the draw that made a token.
  const Draw& drawn(std::int32_t node) const { return draws_[static_cast<std::size_t>(node)]; }
  DraftedNodes<Real> nodes() const {
    return {&shape_.tree, tokens_.data(), p_.data(), q_.data(), left_.data()};
  }
  std::vector<Real> target_row(std::int32_t node) const { return row(target_, node); }
  std::vector<Real> draft_row(std::int32_t node) const { return row(draft_, node); }

  /// Returns the round's context and the path to a node.
  std::vector<Token> context_of(std::int32_t node) const {
    std::vector<Token> path;
    for (; node >= 0; node = shape_.tree.parent(node)) path.push_back(token(node));
    std::vector<Token> all = context_;
    all.insert(all.end(), path.rbegin(), path.rend());
    return all;
  }

  /// Return the number of nodes that exist, and the depth of the deepest.
  std::int32_t count() const {
    std::int32_t count = 0;
    for (const Token token : tokens_) count += token >= 0;
    return count;
  }
  std::int32_t depth() const {
    std::int32_t depth = 0;
    for (std::int32_t node = 0; node < shape_.tree.size(); ++node) {
      if (token(node) >= 0) depth = std::max(depth, shape_.tree.depth(node));
    }
    return depth;
  }

 private:
  bool set_probabilities(std::int32_t node, const std::vector<Real>& q) {
    const auto at = static_cast<std::size_t>(node);
    const auto token = static_cast<std::size_t>(tokens_[at]);
    p_[at] = row(target_, shape_.tree.parent(node))[token];
    q_[at] = q[token];
    return true;
  }

  Token token(std::int32_t node) const { return tokens_[static_cast<std::size_t>(node)]; }

  template <class Model>
  std::vector<Real> row(const Model& model, std::int32_t node) const {
    std::vector<Real> scratch;
    const BasicRow<Real> found = model.next(context_of(node), scratch);
    return {found.probabilities, found.probabilities + found.size};
  }

  const Target& target_;
  const Draft& draft_;
  const DraftedShape& shape_;
  std::vector<Token> context_;
  std::vector<Token> tokens_;
  std::vector<Draw> draws_;
  std::vector<Real> p_;
  std::vector<Real> q_;
  std::vector<Real> left_;
};

/// Runs one round with at most `proposals` proposals per sibling, and appends the emitted tokens to
/// `context`.
template <class Real, LanguageModel<Real> Target, LanguageModel<Real> Draft, WholeRowRule Rule, class Random>
Round whole_row_round(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                      std::uint32_t proposals, std::vector<Token>& context, Random& random) {
  const DraftedShape shape = drafted_shape(rule, gamma);
  DraftedRows<Real, Target, Draft> rows(target, draft, shape, gamma, context);
  const auto view = [](const std::vector<Real>& row) {
    return BasicRow<Real>{row.data(), static_cast<std::int32_t>(row.size())};
  };
  RowFacts<Real> facts;
  facts.k_seq_scale = [&](std::int32_t node, std::size_t candidates) {
    const std::vector<Real> p = rows.target_row(node);
    const std::vector<Real> q = rows.draft_row(node);
    return KSeqRule::scale(view(p), view(q), candidates);
  };
  facts.draft_best = [&](std::int32_t node) {
    const std::vector<Real> q = rows.draft_row(node);
    return q[static_cast<std::size_t>(argmax(view(q)))];
  };
  if constexpr (ReadsNumbers<Rule>) {
    facts.position = [&](std::int32_t node) {
      const std::vector<Real> p = rows.target_row(node);
      const std::vector<Real> q = rows.draft_row(node);
      return position_numbers(rule, DenseRows<Real>{view(p), view(q)});
    };
  }
  auto verification = verification_of<Real>(rule, std::move(facts));
  const auto accept = [&](std::int32_t node, const Real& probability) {
    const Draw& drawn = rows.drawn(node);
    return random.bernoulli(Draw{Use::accept, drawn.slot, drawn.attempt}, probability);
  };
  verification.begin(rows.nodes());
  std::vector<std::int32_t> wanted_nodes;
  for (Wants wants; (wants = verification.advance(accept)) != Wants::nothing;) {
    if (wants == Wants::drafts) {
      wanted_nodes.clear();
      verification.wanted_drafts(wanted_nodes);
      for (const std::int32_t node : wanted_nodes) {
        if (!rows.draw(node, proposals, random)) return {};
      }
      continue;
    }
    const WantedTotal<Real> wanted = verification.wanted_total();
    const std::vector<Real> p = rows.target_row(wanted.node);
    const std::vector<Real> q = rows.draft_row(wanted.node);
    verification.answer(total_probability(ResidualRow<Real>(view(p), view(q), wanted.scale)));
  }

  const RoundEnd<Real> end = verification.end();
  std::vector<Real> p = rows.target_row(end.node);
  const std::vector<Real> q = rows.draft_row(end.node);
  if (end.excluded >= 0) p[static_cast<std::size_t>(end.excluded)] = Real(0);
  if constexpr (PositionForm<Rule>) {
    for (std::size_t i = 0; end.thinned && i < p.size(); ++i)
      p[i] *= verification.share(end.node, p[i], q[i]);
  }
  const Draw draw{end.use, static_cast<std::uint16_t>(end.accepted)};
  const bool from_residual =
      random.bernoulli(Draw{Use::accept, static_cast<std::uint16_t>(shape.tree.size())}, end.residual_share);
  const ResidualRow<Real> weights(view(p), view(q), from_residual ? end.scale : Real(0));
  const auto draw_coupled = [&] {
    const CoupledThresholds<Real> thresholds(view(p), view(q), end.scale);
    const Draw which{Use::accept, static_cast<std::uint16_t>(shape.tree.size() + 1)};
    // If only rounding rejected the token, no threshold lies above its ratio; the first one is taken.
    const Token piece = std::max(0, random.categorical(which, thresholds.weights));
    const Real& threshold = thresholds.starts[static_cast<std::size_t>(piece)];
    return categorical_or(random, draw, RowAbove<Real>{view(p), view(q), threshold}, view(p));
  };
  if (!rows.complete(proposals, random)) return {};
  Round round{rows.count(), rows.depth(), end.examined, end.accepted};
  round.next = end.emitted >= 0 ? end.emitted
               : end.coupled    ? draw_coupled()
                                : categorical_or(random, draw, weights, view(p));
  context = rows.context_of(end.node);
  if (round.next >= 0) context.push_back(round.next);
  return round;
}

}  // namespace speclab
