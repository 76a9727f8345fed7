// Binds the verification of drafted tokens, for many requests at once, on rows of the user's models.
#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "core/rules/block.hpp"
#include "core/rules/lenience.hpp"
#include "core/rules/token.hpp"
#include "core/stop.hpp"
#include "experiments/base/support/machine.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/buffered_random_source.hpp"
#include "python/bindings/row_fault.hpp"
#include "python/bindings/rule_handle.hpp"
#include "python/bindings/watch.hpp"
#include "sim/any_rule.hpp"
#include "sim/parallel.hpp"

namespace speclab::python {

namespace {

template <class Scalar>
using Cube = nb::ndarray<const Scalar, nb::ndim<3>, nb::device::cpu>;
using Drafted = nb::ndarray<const Token, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Uniforms = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Written = nb::ndarray<Token, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Rows by request and position; the numbers of a row are contiguous.
template <class Scalar>
struct Rows {
  const Scalar* data;
  std::int64_t request_stride;
  std::int64_t position_stride;
  std::int32_t vocab;

  explicit Rows(const Cube<Scalar>& cube)
      : data(cube.data()),
        request_stride(cube.stride(0)),
        position_stride(cube.stride(1)),
        vocab(static_cast<std::int32_t>(cube.shape(2))) {}

  BasicRow<Scalar> at(std::size_t request, std::int32_t position) const {
    return {data + static_cast<std::int64_t>(request) * request_stride + position * position_stride, vocab};
  }
};

/// The source of a request's random numbers.
struct Chance {
  const double* uniforms;  ///< [requests, gamma + 1]; null: Philox
  std::uint64_t seed;
  std::uint32_t round;
  std::int32_t gamma;
};

/// The uniforms of one request: one for each drafted position, and one for the token after the accepted ones.
struct GivenUniforms {
  const double* uniforms;
  std::int32_t gamma;

  double operator()(Draw draw) const { return uniforms[draw.use == Use::accept ? draw.slot : gamma]; }
};

/// The first request whose rows cannot be used, and the row at fault.
struct Refused {
  std::size_t request;
  bool of_target;
  std::int32_t position;
  const char* fault;
};

template <class Scalar>
std::optional<Refused> refusal(const Rows<Scalar>& target, const Rows<Scalar>& draft, std::size_t request,
                               const Verdict& verdict, std::int32_t gamma) {
  const std::int32_t last = std::min(verdict.accepted, gamma);
  for (std::int32_t i = 0; i <= last; ++i) {
    if (const char* fault = fault_of(target.at(request, i))) return Refused{request, true, i, fault};
    if (i == gamma) continue;
    if (const char* fault = fault_of(draft.at(request, i))) return Refused{request, false, i, fault};
  }
  return std::nullopt;
}

template <class Scalar, class Rule>
Verdict verdict_of(const Rule& rule, const Rows<Scalar>& target, const Rows<Scalar>& draft,
                   const Token* drafted, std::size_t request, const Chance& chance) {
  const auto targets = [&](std::int32_t i) { return target.at(request, i); };
  const auto drafts = [&](std::int32_t i) { return draft.at(request, i); };
  if (chance.uniforms != nullptr) {
    const auto width = static_cast<std::size_t>(chance.gamma) + 1;
    BufferedRandomSource<Scalar, GivenUniforms> random({chance.uniforms + request * width, chance.gamma});
    return verify(rule, targets, drafts, drafted, chance.gamma, random);
  }
  BufferedRandomSource<Scalar, RoundUniforms> random(
      {chance.seed, static_cast<std::uint32_t>(request), chance.round});
  return verify(rule, targets, drafts, drafted, chance.gamma, random);
}

/// Verifies by any rule of one draft, on copies in doubles.
template <class Scalar>
Verdict verdict_of(const AnyRule& rule, const Rows<Scalar>& target, const Rows<Scalar>& draft,
                   const Token* drafted, std::size_t request, const Chance& chance) {
  struct OneRequest {
    const Rows<Scalar>& rows;
    std::size_t request;
    std::int32_t vocab() const { return rows.vocab; }
    Row next(std::span<const Token> context, std::vector<double>& scratch) const {
      const auto row = rows.at(request, static_cast<std::int32_t>(context.size()));
      scratch.assign(row.probabilities, row.probabilities + row.size);
      return {scratch.data(), row.size};
    }
  };
  const auto drafting = [&](std::vector<Token>& context, SampledRandomSource&,
                            RoundScratch<double>& scratch) {
    scratch.reserve(static_cast<std::size_t>(chance.gamma), 0);
    const OneRequest rows{draft, request};
    for (std::int32_t i = 0; i < chance.gamma; ++i) {
      const auto at = static_cast<std::size_t>(i);
      scratch.drafts[at] = rows.next(context, scratch.draft_rows[at]);
      context.push_back(drafted[i]);
    }
    return speclab::Drafted{chance.gamma, chance.gamma, {}};
  };
  SampledRandomSource random =
      sampled_random_source(chance.seed, static_cast<std::uint32_t>(request), chance.round);
  RoundScratch<double> scratch;
  std::vector<Token> context;
  const Round round = rule->drafted_round(Model(OneRequest{target, request}), DraftingRef(drafting), context,
                                          random, scratch, RoundWatch());
  return {round.accepted, round.examined, round.next};
}

template <class Scalar, class Rule>
std::optional<Refused> verify_all(const Rule& rule, const Rows<Scalar>& target, const Rows<Scalar>& draft,
                                  const Drafted& drafted, const Chance& chance, bool validate,
                                  Token* accepted, Token* next) {
  const std::size_t requests = drafted.shape(0);
  const auto gamma = static_cast<std::size_t>(chance.gamma);
  std::atomic<std::size_t> first_refused{requests};
  // Each part has several requests, so that the loop itself costs little.
  const std::size_t work =
      std::max<std::size_t>(1, 65536 / (static_cast<std::size_t>(target.vocab) * (gamma + 1)));
  const auto some = [&](std::size_t part) {
    end_if_stopped();
    for (std::size_t i = part * work; i < std::min(requests, (part + 1) * work); ++i) {
      const Verdict verdict = verdict_of(rule, target, draft, drafted.data() + i * gamma, i, chance);
      accepted[i] = verdict.accepted;
      next[i] = verdict.next;
      if (verdict.next >= 0 && !(validate && refusal(target, draft, i, verdict, chance.gamma))) continue;
      std::size_t first = first_refused.load();
      while (i < first && !first_refused.compare_exchange_weak(first, i)) {
      }
    }
  };
  const std::size_t parts = (requests + work - 1) / work;
  if (parts == 1) {
    some(0);
  } else {
    for_each_index(parts, some);
  }
  const std::size_t request = first_refused.load();
  if (request == requests) return std::nullopt;
  const Verdict verdict{accepted[request], 0, next[request]};
  const auto found = refusal(target, draft, request, verdict, chance.gamma);
  return found ? found : Refused{request, true, verdict.accepted, "cannot be drawn from"};
}

template <class Scalar>
void verify_batch(const Cube<Scalar>& target_rows, const Cube<Scalar>& draft_rows, const Drafted& drafted,
                  const std::optional<Uniforms>& uniforms, std::uint64_t seed, std::uint32_t round,
                  const RuleHandle& handle, bool validate, int threads, Written accepted, Written next) {
  const Rows<Scalar> target(target_rows);
  const Rows<Scalar> draft(draft_rows);
  const auto gamma = static_cast<std::int32_t>(drafted.shape(1));
  const AnyRule rule = handle.make(gamma, 0).sampled;
  if (!rule->one_draft())
    raise(PyExc_ValueError,
          fmt::format("rule: \"{}\" verifies several drafts of a position; verify takes one", handle.name));
  const Chance chance{uniforms ? uniforms->data() : nullptr, seed, round, gamma};
  std::optional<Refused> refused;
  Watch watch;
  watch.run([&] {
    const auto limit = threads > 0 ? std::optional<ThreadLimit>(std::in_place, threads) : std::nullopt;
    const auto by = [&](const auto& typed) {
      refused = verify_all(typed, target, draft, drafted, chance, validate, accepted.data(), next.data());
    };
    if (const auto* token = rule.get_if<TokenRule>()) {
      by(*token);
    } else if (const auto* block = rule.get_if<BlockRule>()) {
      by(*block);
    } else if (const auto* lenient = rule.get_if<LenienceRule>()) {
      by(*lenient);
    } else if (chance.uniforms == nullptr) {
      by(rule);
    } else {
      refused = Refused{};
    }
  });
  if (!refused) return;
  if (refused->fault == nullptr)
    raise(PyExc_ValueError,
          fmt::format("uniforms: only the rules token, block and lenient take them, not \"{}\"; give a seed",
                      handle.name));
  raise(PyExc_ValueError, fmt::format("{}: the row of request {}, position {} {}",
                                      refused->of_target ? "target_probs" : "draft_probs", refused->request,
                                      refused->position, refused->fault));
}

template <class Scalar>
void bind_verify(nb::module_& module) {
  module.def("verify", &verify_batch<Scalar>, nb::arg("target_probs").noconvert(),
             nb::arg("draft_probs").noconvert(), nb::arg("drafted"), nb::arg("uniforms").none(),
             nb::arg("seed"), nb::arg("round"), nb::arg("rule"), nb::arg("validate"), nb::arg("threads"),
             nb::arg("accepted"), nb::arg("next"));
}

}  // namespace

void bind_verification(nb::module_& module) {
  bind_verify<float>(module);
  bind_verify<double>(module);
}

}  // namespace speclab::python
