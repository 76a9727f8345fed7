#include "analysis/cost/cost_model.hpp"

#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace speclab {

namespace {

std::string plain(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string place(const MeasuredPoint& point) {
  return "tokens " + plain(point.tokens) + ", batch " + plain(point.batch);
}

std::vector<double> distinct(std::span<const MeasuredPoint> points, double MeasuredPoint::*axis) {
  std::vector<double> values;
  for (const MeasuredPoint& point : points) values.push_back(point.*axis);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// A value's position on an axis: the grid points around it, and the fraction of the way from the first to
/// the second; above 1 after the last point.
struct Place {
  std::size_t low;
  std::size_t high;
  double share;
};

Place locate(const std::vector<double>& axis, double value) {
  if (axis.size() == 1 || value <= axis.front()) return {0, 0, 0};
  const auto above = std::lower_bound(axis.begin() + 1, axis.end() - 1, value);
  const auto high = static_cast<std::size_t>(above - axis.begin());
  return {high - 1, high, (value - axis[high - 1]) / (axis[high] - axis[high - 1])};
}

/// Interpolates; beyond the last point only rising lines are extrapolated.
double between(double low, double high, double share) {
  return share > 1 ? high + std::max(high - low, 0.0) * (share - 1) : low + (high - low) * share;
}

void change(CostModel& cost, double bandwidth, double flops, double overheads) {
  auto* const roofline = std::get_if<RooflineCost>(&cost);
  if (roofline == nullptr) return;
  Machine& machine = roofline->machine;
  machine.bandwidth_efficiency = std::min(machine.bandwidth_efficiency * bandwidth, 1.0);
  machine.flops_efficiency = std::min(machine.flops_efficiency * flops, 1.0);
  machine.run_overhead *= overheads;
  machine.layer_overhead *= overheads;
  machine.reduce_latency *= overheads;
}

}  // namespace

MeasuredCost::MeasuredCost(std::span<const MeasuredPoint> points) {
  if (points.empty()) throw std::invalid_argument("no measured times");
  for (const MeasuredPoint& point : points) {
    if (!(point.tokens >= 1 && point.batch >= 1 && point.ms > 0 && std::isfinite(point.ms))) {
      throw std::invalid_argument(place(point) + ", ms " + plain(point.ms) +
                                  ": tokens and batch must be 1 or more, ms above 0");
    }
  }
  tokens_ = distinct(points, &MeasuredPoint::tokens);
  batches_ = distinct(points, &MeasuredPoint::batch);
  std::vector<MeasuredPoint> sorted(points.begin(), points.end());
  const auto before = [](const MeasuredPoint& a, const MeasuredPoint& b) {
    return a.tokens != b.tokens ? a.tokens < b.tokens : a.batch < b.batch;
  };
  std::sort(sorted.begin(), sorted.end(), before);
  // Walks the grid without storing it: it may be as large as the square of the points.
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && !before(sorted[i - 1], sorted[i]))
      throw std::invalid_argument(place(sorted[i]) + ": measured twice");
    ms_.push_back(sorted[i].ms);
  }
  for (std::size_t i = 0; i < tokens_.size() * batches_.size(); ++i) {
    const MeasuredPoint needed{tokens_[i / batches_.size()], batches_[i % batches_.size()], 0};
    if (i == sorted.size() || before(needed, sorted[i])) {
      throw std::invalid_argument(place(needed) +
                                  ": missing; times are needed for every pair of tokens and batch");
    }
  }
}

double MeasuredCost::ms(double tokens, double batch) const {
  const Place row = locate(tokens_, tokens);
  const Place column = locate(batches_, batch);
  const auto along = [&](std::size_t i) {
    const double* values = ms_.data() + i * batches_.size();
    return between(values[column.low], values[column.high], column.share);
  };
  return between(along(row.low), along(row.high), row.share);
}

std::string MeasuredCost::flat_end() const {
  const auto ends = [](const std::vector<double>& axis) {
    return "from " + plain(axis[axis.size() - 2]) + " to " + plain(axis.back());
  };
  const std::size_t count = batches_.size();
  for (std::size_t i = 0; i < count && tokens_.size() > 1; ++i) {
    if (ms_[ms_.size() - count + i] <= ms_[ms_.size() - 2 * count + i])
      return ends(tokens_) + " tokens at batch " + plain(batches_[i]);
  }
  for (std::size_t i = 0; i < tokens_.size() && count > 1; ++i) {
    if (ms_[(i + 1) * count - 1] <= ms_[(i + 1) * count - 2])
      return "of " + plain(tokens_[i]) + " tokens " + ends(batches_) + " sequences";
  }
  return "";
}

double run_ms(const CostModel& cost, const Run& run) {
  struct Visitor {
    const Run& run;
    double operator()(const ConstantCost& constant) const { return constant.ms; }
    double operator()(const MeasuredCost& measured) const { return measured.ms(run.tokens, run.batch); }
    double operator()(const RooflineCost& roofline) const {
      return 1000 * run_time(roofline.machine, roofline.model, run).total();
    }
  };
  return std::visit(Visitor{run}, cost);
}

DraftRuns draft_runs(const CostPair& costs) {
  const auto* const draft = std::get_if<RooflineCost>(&costs.draft);
  if (draft == nullptr) return costs.stated;
  return draft->model.drafts_in_one_run() ? DraftRuns::a_round : DraftRuns::a_token;
}

KnownCosts known_costs(const CostPair& costs) {
  KnownCosts known;
  const auto within = [&](const MeasuredCost& times) {
    known.min_batch = std::max(known.min_batch, times.min_batch());
    known.max_batch = std::min(known.max_batch, times.max_batch());
  };
  if (const auto* const target = std::get_if<MeasuredCost>(&costs.target)) {
    within(*target);
    known.max_gamma = std::floor(target->max_tokens()) - 1;
  }
  if (const auto* const draft = std::get_if<MeasuredCost>(&costs.draft)) {
    within(*draft);
    if (draft_runs(costs) == DraftRuns::a_round)
      known.max_gamma = std::min(known.max_gamma, std::floor(draft->max_tokens()));
  }
  return known;
}

bool constant(const CostPair& costs) {
  return std::holds_alternative<ConstantCost>(costs.target) &&
         std::holds_alternative<ConstantCost>(costs.draft);
}

double drafting_ms(const CostPair& costs, double gamma, const Operation& at) {
  if (gamma == 0) return 0;
  if (draft_runs(costs) == DraftRuns::a_round) return run_ms(costs.draft, {gamma, at.batch, at.context});
  return gamma * run_ms(costs.draft, {1, at.batch, at.context});
}

double reading_ms(const CostPair& costs, const Run& run) {
  if (draft_runs(costs) == DraftRuns::a_token) return run_ms(costs.draft, run);
  const auto* const draft = std::get_if<RooflineCost>(&costs.draft);
  constexpr double milli = 1000;
  return draft == nullptr ? 0 : milli * reading_time(draft->machine, draft->model, run).total();
}

double drafting_cost(const CostPair& costs, int gamma, const Operation& at) {
  if (gamma == 0) return 0;
  if (draft_runs(costs) == DraftRuns::a_token) return gamma * draft_cost(costs, at);
  return drafting_ms(costs, gamma, at) / run_ms(costs.target, {1, at.batch, at.context});
}

double draft_cost(const CostPair& costs, const Operation& at) {
  const Run one{1, at.batch, at.context};
  return run_ms(costs.draft, one) / run_ms(costs.target, one);
}

std::optional<int> drafted_in_one_run(const CostPair& costs, int gamma) {
  if (draft_runs(costs) == DraftRuns::a_token) return std::nullopt;
  return std::max(gamma, 1);
}

double verify_cost(const CostPair& costs, int gamma, const Operation& at) {
  return run_ms(costs.target, verifying(gamma, at)) / run_ms(costs.target, {1, at.batch, at.context});
}

Run verifying(int gamma, const Operation& at) { return {gamma + 1.0, at.batch, at.context, gamma + 1.0}; }

double RoundCosts::of(int gamma) const {
  const auto at = static_cast<std::size_t>(gamma);
  return drafts[at] + verify[at];
}

RoundCosts round_costs(const CostPair& costs, int most, const Operation& at) {
  RoundCosts rounds{.c = draft_cost(costs, at), .runs = draft_runs(costs), .constant = constant(costs)};
  for (int gamma = 0; gamma <= most; ++gamma) {
    rounds.drafts.push_back(drafting_cost(costs, gamma, at));
    rounds.verify.push_back(verify_cost(costs, gamma, at));
  }
  return rounds;
}

int chosen_gamma(std::span<const double> speeds, const RoundCosts& costs) {
  constexpr double near = 0.99;
  auto best = std::max_element(speeds.begin(), speeds.end()) - speeds.begin();
  const double enough = near * speeds[static_cast<std::size_t>(best)];
  while (costs.c == 0 && best > 1 && speeds[static_cast<std::size_t>(best) - 1] >= enough) --best;
  return static_cast<int>(best);
}

std::optional<SpeedupRange> speedup_at_other_costs(double tokens, const CostPair& costs, int gamma,
                                                   const Operation& at) {
  if (gamma == 0 || !std::holds_alternative<RooflineCost>(costs.target)) return std::nullopt;
  const Run plain{1, at.batch, at.context};
  const double plain_ms = run_ms(costs.target, plain);
  SpeedupRange range{std::numeric_limits<double>::infinity(), 0};
  for (const double bandwidth : {0.8, 1.2}) {
    for (const double flops : {0.8, 1.2}) {
      for (const double overheads : {0.5, 2.0}) {
        CostPair other = costs;
        change(other.target, bandwidth, flops, overheads);
        change(other.draft, bandwidth, flops, overheads);
        if (auto* const constant = std::get_if<ConstantCost>(&other.draft))
          constant->ms *= run_ms(other.target, plain) / plain_ms;
        const double speedup = tokens / (drafting_cost(other, gamma, at) + verify_cost(other, gamma, at));
        range.low = std::min(range.low, speedup);
        range.high = std::max(range.high, speedup);
      }
    }
  }
  return range;
}

std::vector<BatchRange> gamma_by_batch(std::span<const double> tokens, const CostPair& costs, double context,
                                       int most, int first) {
  std::vector<BatchRange> ranges;
  const int longest = static_cast<int>(tokens.size()) - 1;
  for (int batch = first; batch <= most; ++batch) {
    const RoundCosts rounds = round_costs(costs, longest, {double(batch), context});
    std::vector<double> speedups;
    for (int gamma = 0; gamma <= longest; ++gamma)
      speedups.push_back(tokens[static_cast<std::size_t>(gamma)] / rounds.of(gamma));
    const int best = chosen_gamma(speedups, rounds);
    const double speedup = speedups[static_cast<std::size_t>(best)];
    if (ranges.empty() || ranges.back().gamma != best) ranges.push_back({batch, batch, best, speedup});
    ranges.back().last = batch;
    ranges.back().min_speedup = std::min(ranges.back().min_speedup, speedup);
  }
  return ranges;
}

int batch_limit(double tokens_per_round, int gamma, const CostPair& costs, double context, int most,
                int first) {
  for (int batch = first; batch <= most; ++batch) {
    const Operation at{double(batch), context};
    if (tokens_per_round <= drafting_cost(costs, gamma, at) + verify_cost(costs, gamma, at)) return batch - 1;
  }
  return most;
}

}  // namespace speclab
