// The optimal transport bound of core/distribution/ratio_order.hpp, computed from totals, without a pass over
// the row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace speclab {

/// Returns the largest acceptance with `drafts` i.i.d. drafts, to 2^-35. `total(G, draft)` returns T(G) = sum
/// (p - G q)+ and sets `draft` to the sum of q over the tokens with p / q > G; rows sum to 1.
///
/// The bound is 1 + min (P - Q^k) over the prefixes of the ratio order. P and Q are the probabilities of the
/// prefix up to ratio G: 1 - T(G) - G draft, and 1 - draft. Ratios above k only raise it.
/// core/fast/fast_transport.hpp has the bound by which an interval of ratios is skipped. An interval is split
/// at its secant, which is the ratio of its tokens if they share one.
template <class Total>
double transport_bound(const Total& total, std::int32_t drafts) {
  struct Prefix {
    double ratio;
    double target;
    double draft;
  };
  constexpr double tolerance = 0x1p-36;
  const auto prefix = [&](double ratio) {
    double above;
    const double residual = total(ratio, above);
    return Prefix{ratio, 1 - residual - ratio * above, 1 - above};
  };
  const auto value = [drafts](double target, double draft) { return target - std::pow(draft, drafts); };
  std::vector<std::pair<Prefix, Prefix>> open{{prefix(0), prefix(drafts)}};
  double least = std::min({0.0, value(open[0].first.target, open[0].first.draft),
                           value(open[0].second.target, open[0].second.draft)});
  while (!open.empty()) {
    const auto [low, high] = open.back();
    open.pop_back();
    const double width = high.draft - low.draft;
    if (!(width > 0) || !(high.ratio > low.ratio)) continue;
    const double step =
        std::clamp((high.ratio * width - (high.target - low.target)) / (high.ratio - low.ratio), 0.0, width);
    if (!(value(low.target + low.ratio * step, low.draft + step) < least - tolerance)) continue;
    const double secant = (high.target - low.target) / width;
    if (!(secant > low.ratio && secant < high.ratio)) continue;
    const Prefix middle = prefix(secant);
    least = std::min(least, value(middle.target, middle.draft));
    open.emplace_back(low, middle);
    open.emplace_back(middle, high);
  }
  return 1 + least;
}

}  // namespace speclab
