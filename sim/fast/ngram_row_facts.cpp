// Facts about the n-gram rows of a context that need no pass over them: sums and bounds, from the tokens that
// the context and its suffixes list.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sim/fast/ngram_entropies.hpp"
#include "sim/fast/ngram_rows.hpp"

namespace speclab {

/// Searches the lists of a context and of its suffixes. Each is in ascending order of the ratio, so only its
/// last token that no longer context lists matters.
double NgramRows::largest_ratio(std::uint32_t context) const {
  double largest = 0;
  double weight = 1;
  for (std::uint32_t at = context;; at = nodes_[at].suffix) {
    const Node& node = nodes_[at];
    for (std::uint64_t entry = node.own.first + node.own.size; entry-- > node.own.first;) {
      const double ratio = weight * lists_.ratio(entry);
      if (ratio <= largest) break;
      if (listed_above(context, at, lists_.token(entry))) continue;
      largest = ratio;
      break;
    }
    if (at == 0 || !(node.target_back_off > 0)) return largest;
    weight *= node.target_back_off / node.draft_back_off;
  }
}

/// Returns sum p ln p over the row of a context. With b the back-off weight, the tokens that the context does
/// not list have b times their probability p after the suffix:
///     sum over unlisted of b p ln (b p) = b sum p ln p + b ln b sum p.
double NgramEntropies::minus_entropy(std::uint32_t at) const {
  double known = kept_[at].load(std::memory_order_relaxed);
  if (known <= 0) return known;
  const NgramTable& table = rows_.table();
  const NgramTable::Context& context = table.context(at);
  const auto term = [](double p) { return p > 0 ? p * std::log(p) : 0; };
  double sum = 0;
  double rest = 0;
  double rest_mass = 0;
  if (at != 0) {
    double unused;
    rest = minus_entropy(context.suffix);
    rest_mass = rows_.total(context.suffix, 0, unused);
  }
  for (const Token token : table.places(context)) {
    if (token < 0) continue;
    sum += term(table.find(at, token).probabilities[target_side]);
    if (at == 0) continue;
    const double below = table.find(context.suffix, token).probabilities[target_side];
    rest -= term(below);
    rest_mass -= below;
  }
  if (at != 0) {
    const double back_off = rows_.back_off(at, target_side);
    sum += back_off * rest + term(back_off) * std::max(0.0, rest_mass);
  }
  known = std::min(sum, 0.0);
  kept_[at].store(known, std::memory_order_relaxed);
  return known;
}

}  // namespace speclab
