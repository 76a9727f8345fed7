// Binds simulations of many rounds of decoding with given models, and sequences of tokens.
#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>

#include "analysis/statistics/estimates.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/machine.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/rule_handle.hpp"
#include "python/bindings/watch.hpp"
#include "sim/decode.hpp"
#include "sim/error.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/sequences.hpp"

namespace speclab::python {

namespace {

nb::object python_interval(const std::optional<Interval>& interval) {
  if (!interval) return nb::none();
  return nb::make_tuple(interval->estimate, interval->low, interval->high);
}

nb::dict python_counts(const Tally& total) {
  nb::dict counts;
  counts["rounds"] = total.rounds;
  counts["drafted"] = total.drafted;
  counts["examined"] = total.examined;
  counts["accepted"] = total.accepted;
  counts["emitted"] = total.emitted;
  return counts;
}

SimulationSize size_of(std::uint64_t seed, std::uint32_t trials, std::uint32_t length,
                       std::vector<Token> prompt) {
  return {.seed = seed, .trials = trials, .length = length, .prompts = {std::move(prompt)}};
}

std::optional<ThreadLimit> limited(int threads) {
  return threads > 0 ? std::optional<ThreadLimit>(std::in_place, threads) : std::nullopt;
}

/// Runs a simulation, and returns the fields of speclab.Simulation. `given` is null for a drafter, which
/// reads only the vocabulary size of the draft.
nb::dict simulate(const Model& target, const Model* given, const RuleHandle& handle, std::int32_t gamma,
                  std::uint64_t seed, std::uint32_t trials, std::uint32_t length, std::vector<Token> prompt,
                  double c, double c_hat, double confidence, int threads, nb::object progress) {
  const Model& draft = given != nullptr ? *given : target;
  const AnyRule rule = handle.make(gamma, 0).sampled;
  const SimulationSize size = size_of(seed, trials, length, std::move(prompt));
  Independence independence = Independence::batches;
  if (!size.has_independent_trials()) independence = Independence::nothing;
  if (!handle.own_drafter && target.context_free() && draft.context_free())
    independence = Independence::rounds;
  std::optional<FastPair> pair;
  Watch watch(std::move(progress));
  const Outcome outcome = watch.run(threads, [&] {
    const auto limit = limited(threads);
    const Control control = watch.control(size.total());
    if (!fast_unsupported_reason(target, draft, rule) && fast_pays(target, draft, size)) {
      try {
        pair.emplace(target, draft, rule);
      } catch (const ModelError&) {
        // The general engine below decodes instead, as in `speclab run`.
      }
    }
    return pair ? pair->decode(gamma, size, control)
                : decode_speculatively(target, draft, rule, gamma, size, control);
  });
  nb::dict all;
  for (const Estimate& estimate : estimates(outcome.batches, {c, c_hat}, confidence, independence))
    all[estimate.name.c_str()] = python_interval(estimate.interval);
  // There is no row where the rule's own drafter did not draft.
  if (handle.own_drafter || !rule->has_acceptance_rate()) all["alpha_overlap"] = nb::none();
  nb::list positions;
  for (const PositionAcceptance& at :
       acceptance_by_position(outcome.batches, gamma, confidence, independence))
    positions.append(nb::make_tuple(python_interval(at.unconditional), python_interval(at.conditional)));
  const Tally total = outcome.total();
  std::vector<std::uint64_t> lengths = total.accepted_lengths;
  lengths.resize(static_cast<std::size_t>(gamma) + 1);
  nb::dict found;
  found["estimates"] = all;
  found["positions"] = positions;
  found["counts"] = python_counts(total);
  found["accepted_lengths"] = lengths;
  found["engine"] = pair ? "fast" : "plain";
  return found;
}

/// Returns ids [trials, length], decoded token by token if `draft` is null and the rule has no drafter.
nb::object sequences(const Model& target, const Model* draft, const RuleHandle& handle, std::int32_t gamma,
                     std::uint64_t seed, std::uint32_t trials, std::size_t length, std::vector<Token> prompt,
                     int threads, nb::object progress) {
  const AnyRule rule = handle.make(gamma, 0).sampled;
  const SimulationSize size = size_of(seed, trials, 1, std::move(prompt));
  require_memory(static_cast<double>(trials) * static_cast<double>(length) * sizeof(Token), "/samples",
                 fmt::format("{} samples of {} tokens", trials, length));
  if (handle.own_drafter) draft = &target;  // only its vocabulary size is read
  Watch watch(std::move(progress));
  auto tokens = std::make_unique<std::vector<Token>>();
  watch.run(threads, [&] {
    const auto limit = limited(threads);
    const Control control = watch.control(trials);
    *tokens = draft != nullptr ? speculative_sequences(target, *draft, rule, gamma, size, length, control)
                               : plain_sequences(target, rule, size, length, control);
  });
  if (tokens->size() != trials * length) throw std::runtime_error("the simulation was stopped early");
  Token* const data = tokens->data();
  const nb::capsule owner(tokens.release(),
                          [](void* held) noexcept { delete static_cast<std::vector<Token>*>(held); });
  return nb::cast(nb::ndarray<nb::numpy, Token, nb::ndim<2>>(data, {trials, length}, owner));
}

}  // namespace

void bind_simulation(nb::module_& module) {
  module.def("simulate", &simulate, nb::arg("target"), nb::arg("draft").none(), nb::arg("rule"),
             nb::arg("gamma"), nb::arg("seed"), nb::arg("trials"), nb::arg("length"), nb::arg("prompt"),
             nb::arg("c"), nb::arg("c_hat"), nb::arg("confidence"), nb::arg("threads"),
             nb::arg("progress").none());
  module.def("sequences", &sequences, nb::arg("target"), nb::arg("draft").none(), nb::arg("rule"),
             nb::arg("gamma"), nb::arg("seed"), nb::arg("trials"), nb::arg("length"), nb::arg("prompt"),
             nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace speclab::python
