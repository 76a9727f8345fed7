#include "serving/advisor/memory_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "analysis/cost/device_speed.hpp"

namespace speclab {

MemoryFit memory_fit(const CostPair& costs, const Operation& at, double share, double gamma) {
  const std::optional<DeviceMemory> memory = device_memory(costs, at, share, gamma);
  if (!memory) return {};
  MemoryFit fit{.fits = memory->holds(at.batch)};
  if (memory->largest_batch) fit.max_batch = std::max(*memory->largest_batch, 0.0);
  if (*fit.fits) return fit;
  constexpr double gigabyte = 1e9;
  const Machine& machine = std::get<RooflineCost>(costs.target).machine;
  const std::string usable =
      fmt::format("{:.4g} GB, {:.3g}% of the memory of {} × {}", memory->usable / gigabyte, 100 * share,
                  machine.devices, machine.device.name);
  const std::optional<int> needed = devices_that_hold(costs, at, share, gamma);
  const std::string weights = fmt::format("{:.4g} GB of weights", memory->weights() / gigabyte);
  const std::string reason =
      memory->weights_fit()
          ? fmt::format(
                "a batch of {:.6g} is above the largest, {:.0f} sequences of {:.6g} tokens beside {} in {}.",
                at.batch, *memory->largest_batch, at.context, weights, usable)
          : fmt::format("{} are more than {}.", weights, usable);
  fit.fits_reason =
      needed
          ? fmt::format("{} {} devices would hold a batch of {:.6g}.", reason, *needed, at.batch)
          : fmt::format(
                "{} More devices would not hold a batch of {:.6g}: each holds a copy of the cache, or they do not divide the heads.",
                reason, at.batch);
  return fit;
}

PlannedBatches planned_batches(const MemoryFit& fit, const CostPair& costs, double asked, int max_batch) {
  if (constant(costs)) return {};
  const KnownCosts known = known_costs(costs);
  if (known.min_batch == known.max_batch) return {};
  const double most = std::max<double>(max_batch, asked);
  const double last = std::min(most, fit.max_batch.value_or(most));
  return {static_cast<int>(std::ceil(known.min_batch)), static_cast<int>(std::min(last, known.max_batch)),
          known.max_batch <= last};
}

void append_notes(const CostPair& costs, std::vector<std::string>& sentences) {
  for (const CostModel* cost : {&costs.target, &costs.draft}) {
    const auto* const times = std::get_if<MeasuredCost>(cost);
    if (times != nullptr && times->falls())
      sentences.push_back("Measured times fall: a longer run takes less time than one over one token.");
    const auto* const roofline = std::get_if<RooflineCost>(cost);
    if (roofline == nullptr) continue;
    const Transformer& model = roofline->model;
    sentences.insert(sentences.end(), model.notes.begin(), model.notes.end());
    if (model.index_bytes == 0) continue;
    // The index also lists the modules for multi-token prediction.
    const Precision& precision = roofline->machine.precision;
    double counted = weight_bytes(model, precision);
    if (model.mtp_modules > 0) counted += weight_bytes(mtp_drafter(model), precision);
    const double more = model.index_bytes / counted - 1;
    constexpr double said = 0.02;
    if (std::abs(more) <= said) continue;
    sentences.push_back(fmt::format(
        "{}: the index lists {:.4g} GB of weights, {:.3g}% {} than the {:.4g} GB that follow from the config. Memory is planned by the index, times by the config.",
        model.source, model.index_bytes / 1e9, 100 * std::abs(more), more > 0 ? "more" : "less",
        counted / 1e9));
  }
}

std::string hypothetical_text(const std::string& reason) {
  return "DOES NOT FIT: " + reason + "\nThe numbers below assume enough memory; no settings are printed.\n\n";
}

}  // namespace speclab
