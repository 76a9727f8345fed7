// The optimal transport bound of core/distribution/ratio_order.hpp without sorting the row. Change: ids are
// counted into narrow bins of p/q, and only bins that could hold the minimum are sorted. Reason: almost all
// of a language model's row lies in other bins. Host only.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/distribution/divergence.hpp"
#include "core/distribution/row.hpp"

namespace speclab {

/// Returns the bound; it agrees with optimal_transport_acceptance to 1e-12. The bound is 1 + min (P - Q^k)
/// over the prefixes of the ratio order, with P and Q the probabilities of the prefix. Ids with p/q > k only
/// raise it (its slope there is p/q - k Q^(k-1) > 0) and are left out. Over a bin of ratios in [a, b],
/// prefixes go from (Q0, P0) to (Q1, P1). P lies above two lines: the one with slope a through the start, and
/// the one with slope b through the end. Each line minus Q^k is concave, so over the bin P - Q^k is at least
/// its smallest value at the start, the end and the lines' intersection. A bin whose intersection is not
/// below the minimum so far is not searched.
inline double fast_transport_acceptance(Row target, Row draft, std::int32_t drafts) {
  if (drafts == 1) return overlap(target, draft);
  struct Bin {
    double target = 0;
    double draft = 0;
    double low = 0;
    double high = 0;
    bool open = false;
  };
  // There are 16 bins per octave, by the first bits of the ratio. Ratios of 2^-32 and less share the first
  // bin, those of 2^8 and more the last.
  constexpr int dropped_bits = 48;
  constexpr std::uint64_t first = std::bit_cast<std::uint64_t>(0x1p-32) >> dropped_bits;
  constexpr std::size_t count = (std::bit_cast<std::uint64_t>(0x1p8) >> dropped_bits) - first + 1;
  constexpr double tolerance = 0x1p-42;
  std::array<Bin, count> bins{};
  const auto bin_of = [](double ratio) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(ratio) >> dropped_bits;
    return std::min<std::size_t>(bits < first ? 0 : bits - first, count - 1);
  };
  const auto power = [drafts](double base) {
    double result = 1;
    for (std::int32_t i = 0; i < drafts; ++i) result *= base;
    return result;
  };
  const auto counts = [&](Token id) { return draft[id] > 0 && target[id] <= drafts * draft[id]; };

  for (Token id = 0; id < target.size; ++id) {
    if (!counts(id)) continue;
    const double ratio = target[id] / draft[id];
    Bin& bin = bins[bin_of(ratio)];
    bin.low = bin.draft > 0 ? std::min(bin.low, ratio) : ratio;
    bin.high = std::max(bin.high, ratio);
    bin.target += target[id];
    bin.draft += draft[id];
  }

  double least = 0;
  double p = 0;
  double q = 0;
  for (const Bin& bin : bins) {
    if (!(bin.draft > 0)) continue;
    p += bin.target;
    q += bin.draft;
    least = std::min(least, p - power(q));
  }
  bool any_open = false;
  p = q = 0;
  for (Bin& bin : bins) {
    if (!(bin.draft > 0)) continue;
    if (bin.high > bin.low) {
      // The clamp keeps the step within a bin whose ratios differ only by rounding, as those of backed-off
      // tokens do.
      const double step =
          std::clamp((bin.high * bin.draft - bin.target) / (bin.high - bin.low), 0.0, bin.draft);
      bin.open = p + bin.low * step - power(q + step) < least - tolerance;
      any_open = any_open || bin.open;
    }
    p += bin.target;
    q += bin.draft;
  }
  if (!any_open) return 1 + least;

  std::vector<std::pair<double, Token>> inside;
  for (Token id = 0; id < target.size; ++id) {
    if (!counts(id)) continue;
    const double ratio = target[id] / draft[id];
    if (bins[bin_of(ratio)].open) inside.emplace_back(ratio, id);
  }
  std::sort(inside.begin(), inside.end());
  auto next = inside.begin();
  p = q = 0;
  for (std::size_t at = 0; at < count; ++at) {
    double below_p = p;
    double below_q = q;
    for (; next != inside.end() && bin_of(next->first) == at; ++next) {
      below_p += target[next->second];
      below_q += draft[next->second];
      least = std::min(least, below_p - power(below_q));
    }
    p += bins[at].target;
    q += bins[at].draft;
  }
  return 1 + least;
}

}  // namespace speclab
