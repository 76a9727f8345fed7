// Tests siblings drawn without replacement, where the first has nearly all of the draft's probability and is
// refused. The rest of the draft must be summed: the difference of two rounded numbers would be inaccurate.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/distribution/owned_row.hpp"
#include "tests/bounds.hpp"
#include "tests/kernels/verify/tree_logits.hpp"

using namespace speclab;

namespace {

constexpr Token heavy = 7;
constexpr double exhausted_band = 1e-5;

/// Gives one id, which hardly has any target probability, all of the draft's probability except about vocab
/// e^rest, in both rows of the context and of the second child. `alike`: the other ids have the same shares
/// of the rest in both models.
void exhaust(TreeLogits& logits, float rest, bool alike) {
  for (std::int32_t request = 0; request < logits.batch.requests; ++request) {
    for (const std::int32_t position : {0, 2}) {
      if (position >= logits.batch.gamma) continue;
      for (Token id = 0; id < logits.batch.vocab; ++id) {
        float& of_draft = logits.draft_logit(request, position, id);
        float& of_target = logits.target_logit(request, position, id);
        if (alike) of_draft = of_target;
        of_draft = id == heavy ? 0 : of_draft + rest;
        if (id == heavy) of_target = -100;
      }
    }
  }
  logits.store();
  for (std::int32_t request = 0; request < logits.batch.requests; ++request) logits.draw_tree(request);
}

/// Returns the probability that a second sibling is accepted once the heavy id is refused.
double accepted_of_rest(TreeLogits& logits, std::int32_t request) {
  std::vector<double> p;
  std::vector<double> q;
  for (Token id = 0; id < logits.batch.vocab; ++id) {
    if (id == heavy) continue;
    p.push_back(std::exp(logits.target_logit(request, 0, id)));
    q.push_back(std::exp(static_cast<double>(logits.draft_logit(request, 0, id)) -
                         static_cast<double>(logits.draft_logit(request, 0, 0))));
  }
  normalise(p);
  normalise(q);
  double alpha = 0;
  for (std::size_t i = 0; i < p.size(); ++i) alpha += std::min(p[i], q[i]);
  return alpha;
}

}  // namespace

TEST_CASE("long: a refused sibling that had nearly all of the draft leaves the law of the others") {
  for (const Drafting how : {Drafting::without_replacement, Drafting::traversed}) {
    for (const float rest : {-46.0F, -33.0F, -4.0F}) {
      for (const std::int32_t vocab : {30, 9001}) {
        const bool traversed = how == Drafting::traversed;
        const bool compared = !traversed && rest <= -33 && vocab == 30;
        const std::int32_t requests = vocab > 30 ? 6 : compared || traversed ? 300 : 60;
        CAPTURE(traversed);
        CAPTURE(rest);
        CAPTURE(vocab);
        TreeLogits logits({.requests = requests, .vocab = vocab, .spread = 1, .distance = 1},
                          {-1, -1, -1, 1, 1}, how, 317);
        exhaust(logits, rest, false);
        const auto expected = verify_tree_reference(logits.tree());
        logits.run();
        int within = 0;
        CHECK(logits.different_from(expected, exhausted_band, &within) == 0);
        // Rounding decides few requests, and more with long rows, where a refusal leaves little of the
        // target, too.
        CHECK(within < (vocab == 30 ? requests / 10 : requests));
        if (requests < 300) {
          const auto path = logits.path;
          logits.run(simt::Order::shuffled);
          CHECK(logits.path == path);
        }
        if (!compared) continue;
        // Expectation over the requests, by the closed form; the bound is seven standard deviations.
        double wanted = 0;
        double variance = 0;
        int second = 0;
        for (std::int32_t request = 0; request < requests; ++request) {
          const double alpha = accepted_of_rest(logits, request);
          wanted += alpha;
          variance += alpha * (1 - alpha);
          const auto taken = logits.path_of(static_cast<std::size_t>(request));
          second += !taken.empty() && taken.front() == 1 ? 1 : 0;
        }
        CHECK(std::abs(second - wanted) <= bound_in_sigmas * std::sqrt(variance));
      }
    }
  }
}

TEST_CASE("what is left of both rows is alike: the second sibling is always accepted") {
  for (const Drafting how : {Drafting::without_replacement, Drafting::traversed}) {
    for (const float rest : {-46.0F, -33.0F}) {
      CAPTURE(how == Drafting::traversed);
      CAPTURE(rest);
      TreeLogits logits({.requests = 60, .vocab = 30, .spread = 1}, {-1, -1}, how, 318);
      exhaust(logits, rest, true);
      logits.run();
      int second = 0;
      for (std::size_t i = 0; i < 60; ++i)
        second += logits.path_of(i) == std::vector<std::int32_t>{1} ? 1 : 0;
      // Rounding leaves the ratio below 1 by 1e-6 at most.
      CHECK(second == 60);
    }
  }
}
