// The rule of core/rules/README.md: what a reader writes, and how it is proved or refuted.
#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <vector>

#include "analysis/exact/losslessness.hpp"

using namespace speclab;

namespace {

using Q = boost::multiprecision::cpp_rational;

template <class Real>
struct TimidResidual {
  using value_type = Real;
  BasicRow<Real> target;
  BasicRow<Real> draft;
  Real boldness;
  std::int32_t size;
  Real operator[](Token id) const {
    return target[id] - boldness * (draft[id] < target[id] ? draft[id] : target[id]);
  }
};

struct TimidRule : BonusFromTarget {
  double boldness = 0.5;
  template <class Real>
  Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return Real(boldness) * acceptance_ratio(target[token], draft[token], Real(1));
  }
  template <class Real>
  Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return Real(boldness) * overlap(target, draft);
  }
  template <class Real>
  TimidResidual<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {target, draft, Real(boldness), target.size};
  }
};

/// The mistake: timid acceptance draws, but the residual of Algorithm 1.
struct ForgetfulRule : TimidRule {
  template <class Real>
  ResidualRow<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {target, draft, Real(1)};
  }
};

const ExactTable<Q> target({{Q(1, 2), Q(3, 10), Q(1, 5)}});
const ExactTable<Q> draft({{Q(1, 10), Q(3, 10), Q(3, 5)}});

}  // namespace

TEST_CASE("a rule of one's own is proved lossless, and its mistake refuted") {
  const auto timid = examine<Q>(target, draft, TimidRule{}, 2, std::span<const Token>{});
  CHECK(timid.distance == 0);
  CHECK(timid.acceptance() == Q(3, 10));
  const auto forgetful = examine<Q>(target, draft, ForgetfulRule{}, 2, std::span<const Token>{});
  CHECK(forgetful.distance > 0);
  CHECK(forgetful.counterexample.has_value());
}
