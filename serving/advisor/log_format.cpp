#include "serving/advisor/log_format.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>

namespace speclab {

namespace {

void refuse_more_accepted(const std::string& where, std::uint64_t accepted, std::uint64_t drafted) {
  if (accepted <= drafted) return;
  throw UsageError(
      "{}: {} tokens accepted of {} drafted; a log of emitted tokens counts one more per round than were accepted",
      where, accepted, drafted);
}

void refuse_more_drafted(const std::string& where, std::uint64_t drafted, std::uint64_t rounds,
                         std::uint64_t gamma) {
  if (drafted <= rounds * gamma) return;
  throw UsageError("{}: {} tokens drafted in {} rounds of at most {}", where, drafted, rounds, gamma);
}

/// Returns the number of positions up to the last that was accepted, by counts or by rates.
std::size_t reached_positions(const auto& accepted) {
  const auto last = std::find_if(accepted.rbegin(), accepted.rend(), [](auto one) { return one > 0; });
  return static_cast<std::size_t>(accepted.rend() - last);
}

}  // namespace

void ModelLog::warn_unread(const std::string& what) {
  if (std::exchange(warned_of_unread, true)) return;
  warnings.push_back(
      fmt::format("{} is not known and was not read; it may change what the counts beside it mean", what));
}

void refuse_totals(const TextLine& line) {
  refuse_line(
      line,
      "the line states a number of rounds, so it is a total of several; give --fields drafted=drafted,accepted=accepted,rounds=rounds");
}

void ModelLog::add_round(const std::string& where, std::uint64_t drafted, std::uint64_t accepted) {
  if (drafted > max_round) {
    throw UsageError(
        "{}: {} tokens drafted: these are the totals of a request, not of one round; name the number of rounds, too (--fields rounds=...)",
        where, drafted);
  }
  refuse_more_accepted(where, accepted, drafted);
  rounds.push_back({static_cast<int>(drafted), static_cast<int>(accepted)});
  add_lengths(1, drafted, drafted);
}

void ModelLog::add_lengths(std::uint64_t total, std::uint64_t drafted, std::uint64_t longest) {
  if (total == 0) return;
  const std::uint64_t longer = drafted % total;
  lengths[drafted / total] += static_cast<double>(total - longer);
  if (longer > 0) lengths[drafted / total + 1] += static_cast<double>(longer);
  short_by += std::max(total * longest, drafted) - drafted;
}

void ModelLog::add_totals(const std::string& where, std::uint64_t total, std::vector<std::uint64_t> accepted,
                          std::uint64_t drafted) {
  if (const std::size_t reached = reached_positions(accepted); reached > 0 && drafted == total * reached)
    accepted.resize(reached);
  checked_draft(where, accepted.size());
  std::uint64_t before = total;
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    if (accepted[i] > before) {
      throw UsageError("{}: position {} was accepted {} times, more than the {} before it", where, i + 1,
                       accepted[i], before);
    }
    before = accepted[i];
  }
  refuse_more_drafted(where, drafted, total, accepted.size());
  const PositionCounts more = count_positions(total, accepted);
  counts.rounds += more.rounds;
  counts.examined.resize(std::max(counts.examined.size(), accepted.size()));
  counts.accepted.resize(counts.examined.size());
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    counts.examined[i] += more.examined[i];
    counts.accepted[i] += more.accepted[i];
  }
  counted += drafted;
  add_lengths(total, drafted, accepted.size());
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
  // Counters that are read between two updates have a mean just above the length of all rounds.
  const std::uint64_t whole = total > 0 ? drafted / total : 0;
  const std::uint64_t longest = whole + (whole == 0 || drafted - whole * total > total / 100 ? 1 : 0);
  if (total > 0) add_lengths(total, drafted, checked_draft(where, longest));
  summed_rounds += total;
  summed_drafted += drafted;
  summed_accepted += accepted;
}

namespace {

/// The counts of rounds whose share prints as one rate.
struct RateRange {
  std::uint64_t low = 0;
  std::uint64_t nearest = 0;
  std::uint64_t high = 0;
};

RateRange range_of(double rate, double rounding, std::uint64_t rounds) {
  constexpr double slack = 1e-9;
  const auto total = static_cast<double>(rounds);
  const double half = rounding + slack;
  const auto low = static_cast<std::uint64_t>(std::ceil(std::max(rate - half, 0.0) * total));
  const auto high = static_cast<std::uint64_t>(std::floor(std::min(rate + half, 1.0) * total));
  return {low, static_cast<std::uint64_t>(std::llround(rate * total)), high};
}

/// Returns numbers of accepted tokens by position that add up to `accepted` and print as these rates; of
/// those, numbers near the printed rates. Empty if there are none.
std::vector<std::uint64_t> counts_printed_as(const std::vector<RateRange>& ranges, std::uint64_t accepted) {
  std::vector<std::uint64_t> found;
  auto left = static_cast<std::int64_t>(accepted);
  for (const RateRange& range : ranges) {
    if (range.low > range.high) return {};
    found.push_back(std::clamp(range.nearest, range.low, range.high));
    left -= static_cast<std::int64_t>(found.back());
  }
  // Each pass spreads the rest evenly over the positions that can take some of it.
  const auto positions = static_cast<std::int64_t>(ranges.size());
  for (bool moved = true; left != 0 && moved;) {
    moved = false;
    const std::int64_t share = std::max<std::int64_t>(std::abs(left) / positions, 1);
    for (std::size_t i = 0; i < ranges.size() && left != 0; ++i) {
      const std::uint64_t room = left > 0 ? ranges[i].high - found[i] : found[i] - ranges[i].low;
      const std::int64_t step = std::min({static_cast<std::int64_t>(room), share, std::abs(left)});
      if (step == 0) continue;
      moved = true;
      found[i] += static_cast<std::uint64_t>(left > 0 ? step : -step);
      left -= left > 0 ? step : -step;
    }
  }
  if (left != 0) return {};
  // Equal rates share their range, so that the counts can be put in order. Rates that rise are refused later.
  if (std::is_sorted(ranges.begin(), ranges.end(),
                     [](const RateRange& one, const RateRange& other) { return one.high > other.high; }))
    std::sort(found.begin(), found.end(), std::greater<>());
  return found;
}

/// Adds the amounts by which the number of rounds that accepted all drafted tokens may be smaller or larger
/// than found.back(). Both are limited by the rounding of the last rate and, because all counts add up to the
/// accepted tokens, by that of the other rates.
void add_rounding(ModelLog& log, const std::vector<RateRange>& ranges,
                  const std::vector<std::uint64_t>& found) {
  std::uint64_t others_up = 0;
  std::uint64_t others_down = 0;
  for (std::size_t i = 0; i + 1 < found.size(); ++i) {
    others_up += ranges[i].high - std::min(found[i], ranges[i].high);
    others_down += std::max(found[i], ranges[i].low) - ranges[i].low;
  }
  const RateRange& last = ranges.back();
  log.full_fewer += std::min(std::max(found.back(), last.low) - last.low, others_up);
  log.full_more += std::min(last.high - std::min(found.back(), last.high), others_down);
}

}  // namespace

void add_rounded(ModelLog& log, const std::string& where, const RoundedTotals& totals) {
  const std::uint64_t accepted = totals.accepted;
  const std::uint64_t drafted = totals.drafted;
  refuse_more_accepted(where, accepted, drafted);
  const std::uint64_t gamma = checked_draft(where, totals.rates.size());
  if (drafted == 0) return;
  if (gamma == 0) throw UsageError("{}: {} drafted tokens, but no rate by position", where, drafted);
  if (totals.rounds) refuse_more_drafted(where, drafted, *totals.rounds, gamma);
  const auto disagree = [&] {
    return totals.rounds
               ? UsageError("{}: {} accepted tokens in {} rounds and the rates by position do not agree",
                            where, accepted, *totals.rounds)
               : UsageError(
                     "{}: {} accepted tokens, their mean length of {} and the rates by position do not agree",
                     where, accepted, totals.mean_emitted);
  };
  const double by_rates = std::accumulate(totals.rates.begin(), totals.rates.end(), 1.0);
  const double rounding = totals.mean_rounding + static_cast<double>(gamma) * (totals.rate_rounding + 1e-9);
  if (!totals.rounds && std::abs(by_rates - totals.mean_emitted) > rounding) throw disagree();
  const auto sum = static_cast<double>(accepted);
  const std::uint64_t min_rounds = (drafted + gamma - 1) / gamma;
  std::uint64_t low = totals.rounds.value_or(min_rounds);
  std::uint64_t high = low;
  if (accepted > 0 && !totals.rounds) {
    // Each round drafts at least one token.
    const auto max_rounds = static_cast<double>(drafted);
    const double longest = totals.mean_emitted - 1 + totals.mean_rounding;
    if (!(longest * max_rounds >= sum)) throw disagree();
    const double shortest = std::max(totals.mean_emitted - 1 - totals.mean_rounding, sum / max_rounds);
    low = std::max(min_rounds, static_cast<std::uint64_t>(std::ceil(sum / longest)));
    high = std::max(low, static_cast<std::uint64_t>(std::min(sum / shortest, max_rounds)));
  }
  // Most rounds draft gamma tokens, so the smallest number of rounds whose counts print as these rates is
  // taken. If it is not a quotient, the one is tried first by which no round drafted a position of rate 0.
  constexpr std::uint64_t max_tried = 10000;
  const std::uint64_t reached = reached_positions(totals.rates);
  const bool filled = low * gamma != drafted && reached > 0 && drafted % reached == 0 &&
                      drafted / reached >= low && drafted / reached <= high;
  for (std::uint64_t i = filled ? 0 : 1; low + i <= std::min(high, low + max_tried) + 1; ++i) {
    const std::uint64_t rounds = i == 0 ? drafted / reached : low + i - 1;
    std::vector<RateRange> ranges;
    for (const double rate : totals.rates) ranges.push_back(range_of(rate, totals.rate_rounding, rounds));
    const std::vector<std::uint64_t> printed = counts_printed_as(ranges, accepted);
    if (printed.empty()) continue;
    log.add_totals(where, rounds, printed, drafted);
    return add_rounding(log, ranges, printed);
  }
  throw disagree();
}

std::uint64_t accepted_of(const std::string& where, std::uint64_t emitted, std::uint64_t rounds) {
  if (emitted >= rounds) return emitted - rounds;
  throw UsageError("{}: {} tokens emitted in {} rounds, but each round emits one or more", where, emitted,
                   rounds);
}

std::uint64_t runs_of(std::uint64_t emitted, std::uint64_t accepted, std::uint64_t requests) {
  return emitted - std::min(emitted, accepted + requests);
}

std::string not_drafting(const std::string& where, std::uint64_t rounds, std::uint64_t runs,
                         std::uint64_t accepted, double share) {
  if (static_cast<double>(rounds) >= share * static_cast<double>(runs)) return "";
  return fmt::format(
      "{}: drafted in {} of {} runs of the target, which emitted {:.3g} tokens a run: plans are for drafters that draft in every run (if this one does, {} emitted tokens contradict {} accepted ones in {} rounds)",
      where, rounds, runs, 1 + static_cast<double>(accepted) / static_cast<double>(runs), runs + accepted,
      accepted, rounds);
}

void check_drafting(const std::string& where, std::uint64_t rounds, std::uint64_t runs,
                    std::uint64_t accepted, double share) {
  const std::string reason = not_drafting(where, rounds, runs, accepted, share);
  if (!reason.empty()) throw UsageError(reason);
}

void check_emitted(const std::string& where, std::uint64_t rounds, std::uint64_t drafted,
                   std::uint64_t accepted, std::uint64_t emitted, std::uint64_t requests, double inexact) {
  const std::uint64_t longest = rounds == 0 ? 0 : (drafted + rounds - 1) / rounds;
  const auto most = static_cast<std::uint64_t>((1 + inexact) * static_cast<double>(emitted));
  if (accepted <= most && rounds + accepted <= most + requests * longest) return;
  throw UsageError(
      "{}: {} accepted tokens in {} rounds of {} drafted ones are {} emitted tokens, but {} were emitted: these counts, or --drafted, contradict each other",
      where, accepted, rounds, longest, rounds + accepted, emitted);
}

std::uint64_t rounds_of_request(const std::string& where, std::uint64_t gamma, std::uint64_t drafted,
                                std::uint64_t accepted, std::uint64_t emitted) {
  const std::uint64_t full = (drafted + gamma - 1) / gamma;
  if (emitted == 0) return full;
  check_emitted(where, full, drafted, accepted, emitted, 1);
  const std::uint64_t runs = runs_of(emitted, accepted, 1);
  if (runs < full) return full;
  if (runs * gamma - drafted > gamma * (gamma + 1) / 2) {
    throw UsageError(
        "{}: {} tokens drafted in {} runs of the target, which emitted {:.3g} tokens a run: too few for {} in each run; give a log of rounds",
        where, drafted, runs, static_cast<double>(emitted - 1) / static_cast<double>(runs), gamma);
  }
  return std::max(full, runs * gamma - drafted >= gamma ? runs - 1 : runs);
}

void check_stated(const std::string& where, std::string_view name, double stated, double counted,
                  double rounding) {
  if (std::abs(stated - counted) <= rounding) return;
  throw UsageError("{}: {} is {:.6g}, but the other counts give {:.6g}", where, name, stated, counted);
}

std::uint64_t drafted_option(const LogSource& source, std::string_view what) {
  if (!source.drafted()) {
    throw UsageError("{}: {} how many tokens were drafted per round; give --drafted N", source.name(), what);
  }
  return static_cast<std::uint64_t>(*source.drafted());
}

std::vector<double> rates_in(const TextLine& line, std::string_view text) {
  std::vector<double> rates;
  const std::string list(text);
  const auto refuse_end = [&] {
    refuse_line(line, "the rates by position are \"{}\"; expected a list such as 0.805, 0.632", brief(list));
  };
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    double rate = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
    if (error != std::errc{}) {
      // Before the first draft the list is empty.
      if (rates.empty() && !text.starts_with(")")) refuse_end();
      return rates;
    }
    if (!(rate >= 0 && rate <= 1)) refuse_end();
    rates.push_back(rate);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with("%")) refuse_end();
    if (!text.starts_with(",")) return rates;
  }
}

}  // namespace speclab
