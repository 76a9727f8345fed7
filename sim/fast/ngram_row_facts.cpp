// What NgramRows says about whole rows without a pass over them: sums and bounds of a context's row from
// those of its suffix and the tokens that it lists.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/stop.hpp"
#include "sim/fast/ngram_rows.hpp"

namespace speclab {

/// Suffixes come before what they are suffixes of. With b what backing off weighs,
///     sum over unlisted of b p ln (b p) = b sum p ln p + b ln b sum p.
std::vector<double> NgramRows::minus_entropies() const {
  std::vector<double> sums(contexts());
  StopCounter now_and_then(1 << 10);
  for (std::uint32_t at = 0; at < contexts(); ++at) {
    now_and_then.step();
    const Node& node = nodes_[at];
    const auto term = [](double p) { return p > 0 ? p * std::log(p) : 0; };
    double rest = at == 0 ? 0 : sums[node.suffix];
    double unused;
    double rest_mass = at == 0 ? 0 : total(node.suffix, 0, unused);
    for (const Token token : table_.places(table_.context(at))) {
      if (token < 0) continue;
      sums[at] += term(table_.find(at, token).probabilities[target_side]);
      if (at == 0) continue;
      const double below = table_.find(node.suffix, token).probabilities[target_side];
      rest -= term(below);
      rest_mass -= below;
    }
    const double back_off = node.target_back_off;
    sums[at] += back_off * rest + term(back_off) * std::max(0.0, rest_mass);
  }
  return sums;
}

std::vector<double> NgramRows::largest_ratios() const {
  std::vector<double> largest(contexts());
  for_each_context([&](std::uint32_t at) { largest[at] = largest_ratio(at); });
  return largest;
}

/// Of each list, the first token from the top that no longer context lists.
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

}  // namespace speclab
