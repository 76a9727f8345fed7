#include "serving/advisor/log_format.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace speclab {

namespace {

void refuse_more_accepted(const std::string& where, std::uint64_t accepted, std::uint64_t drafted) {
  if (accepted <= drafted) return;
  throw UsageError(
      "{}: {} tokens accepted of {} drafted; a log of emitted tokens counts one more per round than were accepted",
      where, accepted, drafted);
}

/// Adds counts position by position.
void add_counts(PositionCounts& counts, const PositionCounts& more) {
  counts.rounds += more.rounds;
  if (counts.examined.size() < more.examined.size()) {
    counts.examined.resize(more.examined.size());
    counts.accepted.resize(more.examined.size());
  }
  for (std::size_t i = 0; i < more.examined.size(); ++i) {
    counts.examined[i] += more.examined[i];
    counts.accepted[i] += more.accepted[i];
  }
}

}  // namespace

void ModelLog::add_round(const std::string& where, std::uint64_t drafted, std::uint64_t accepted) {
  checked_draft(where, drafted);
  refuse_more_accepted(where, accepted, drafted);
  rounds.push_back({static_cast<int>(drafted), static_cast<int>(accepted)});
}

void ModelLog::add_totals(const std::string& where, std::uint64_t total,
                          const std::vector<std::uint64_t>& accepted, std::uint64_t drafted) {
  checked_draft(where, accepted.size());
  std::uint64_t before = total;
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    if (accepted[i] > before) {
      throw UsageError("{}: position {} was accepted {} times, more than the {} before it", where, i + 1,
                       accepted[i], before);
    }
    before = accepted[i];
  }
  add_counts(counts, count_positions(total, accepted));
  const std::uint64_t all = total * accepted.size();
  counted += std::min(drafted, all);
  short_by += all - std::min(drafted, all);
}

void ModelLog::add_histogram(const std::string& where, const std::vector<std::uint64_t>& by_accepted,
                             std::optional<std::uint64_t> drafted) {
  if (by_accepted.empty()) throw UsageError("{}: an empty histogram", where);
  std::vector<std::uint64_t> accepted(by_accepted.size() - 1);
  std::uint64_t reached = 0;
  for (std::size_t i = by_accepted.size(); i-- > 0;) {
    reached += by_accepted[i];
    if (i > 0) accepted[i - 1] = reached;
  }
  add_totals(where, reached, accepted, drafted.value_or(reached * accepted.size()));
}

void ModelLog::add_sums(const std::string& where, std::uint64_t total, std::uint64_t drafted,
                        std::uint64_t accepted) {
  refuse_more_accepted(where, accepted, drafted);
  if (total == 0 && drafted > 0) throw UsageError("{}: {} tokens drafted in no round", where, drafted);
  if (total > 0) checked_draft(where, (drafted + total - 1) / total);
  summed_rounds += total;
  summed_drafted += drafted;
  summed_accepted += accepted;
}

namespace {

/// Returns numbers of accepted tokens by position that add up to `accepted` and, over `total` rounds, print
/// as these rates of three decimals; empty if there are none.
std::vector<std::uint64_t> counts_printed_as(const std::vector<double>& rates, std::uint64_t total,
                                             std::uint64_t accepted) {
  constexpr double half_of_last_digit = 0.0005 + 1e-9;
  const auto rounds = static_cast<double>(total);
  std::vector<std::uint64_t> found;
  std::uint64_t sum = 0;
  for (const double rate : rates) {
    const double lowest = std::ceil(std::max(rate - half_of_last_digit, 0.0) * rounds);
    if (lowest > (rate + half_of_last_digit) * rounds) return {};
    found.push_back(static_cast<std::uint64_t>(lowest));
    sum += found.back();
  }
  for (std::size_t i = 0; i < rates.size() && sum < accepted; ++i) {
    const auto highest = static_cast<std::uint64_t>((rates[i] + half_of_last_digit) * rounds);
    const std::uint64_t more = std::min(highest - found[i], accepted - sum);
    found[i] += more;
    sum += more;
  }
  return sum == accepted ? found : std::vector<std::uint64_t>{};
}

}  // namespace

void add_rounded(ModelLog& log, const std::string& where, double mean_emitted, double rounding,
                 std::uint64_t accepted, std::uint64_t drafted, const std::vector<double>& rates) {
  refuse_more_accepted(where, accepted, drafted);
  const std::uint64_t gamma = checked_draft(where, rates.size());
  if (gamma == 0 || drafted == 0) return;
  const auto disagree = [&] {
    return UsageError(
        "{}: {} accepted tokens, their mean length of {} and the rates by position do not agree", where,
        accepted, mean_emitted);
  };
  const auto sum = static_cast<double>(accepted);
  const std::uint64_t least = (drafted + gamma - 1) / gamma;
  std::uint64_t low = least;
  std::uint64_t high = least;
  if (accepted > 0) {
    // Each round drafts at least one token.
    const auto most = static_cast<double>(drafted);
    const double longest = mean_emitted - 1 + rounding;
    if (!(longest * most >= sum)) throw disagree();
    const double shortest = std::max(mean_emitted - 1 - rounding, sum / most);
    low = std::max(least, static_cast<std::uint64_t>(std::ceil(sum / longest)));
    high = std::max(low, static_cast<std::uint64_t>(std::min(sum / shortest, most)));
  }
  const auto add = [&](std::uint64_t rounds, std::vector<std::uint64_t> by_position) {
    std::uint64_t before = rounds;
    for (std::uint64_t& one : by_position) before = one = std::min(one, before);
    log.add_totals(where, rounds, by_position, drafted);
  };
  // If full rounds alone explain the rates, all rounds were full.
  if (low == least) {
    auto printed = counts_printed_as(rates, low, accepted);
    if (!printed.empty()) return add(low, std::move(printed));
  }
  // Most rounds are full, so among equally good numbers of rounds the smallest is taken: it leaves the fewest
  // rounds short.
  constexpr std::uint64_t max_tried = 10000;
  high = std::min(high, low + max_tried);
  std::vector<std::uint64_t> best;
  std::uint64_t best_rounds = low;
  double min_misfit = std::numeric_limits<double>::infinity();
  for (std::uint64_t total = low; total <= high; ++total) {
    std::vector<std::uint64_t> by_position;
    double misfit = 0;
    std::uint64_t counted = 0;
    for (const double rate : rates) {
      const double exact = rate * static_cast<double>(total);
      const double whole = std::round(exact);
      misfit += std::abs(exact - whole);
      by_position.push_back(static_cast<std::uint64_t>(whole));
      counted += by_position.back();
    }
    misfit += std::abs(static_cast<double>(counted) - sum);
    if (misfit + 1e-9 < min_misfit) {
      min_misfit = misfit;
      best = by_position;
      best_rounds = total;
    }
  }
  // Allows for three decimals of each rate and for one token.
  const double allowed = static_cast<double>(gamma) * (1.5 + 0.0006 * static_cast<double>(best_rounds));
  if (min_misfit > allowed) throw disagree();
  add(best_rounds, std::move(best));
}

std::uint64_t drafted_option(const LogSource& source, const char* what) {
  if (!source.drafted()) {
    throw UsageError("{}: {} how many tokens were drafted per round; give --drafted N", source.name(), what);
  }
  return static_cast<std::uint64_t>(*source.drafted());
}

std::vector<double> rates_in(std::string_view text) {
  std::vector<double> rates;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    double rate = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
    if (error != std::errc{} || !(rate >= 0 && rate <= 1)) return rates;
    rates.push_back(rate);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with(",")) return rates;
  }
}

}  // namespace speclab
