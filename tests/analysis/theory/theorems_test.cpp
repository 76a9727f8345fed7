#include "analysis/theory/theorems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace speclab;

namespace {

constexpr double alphas[] = {0, 1e-20, 0.1, 0.2, 0.49, 0.5, 0.8, 0.99, 1 - 1e-9, 1 - 1e-15, 1};
constexpr int gammas[] = {0, 1, 2, 5, 40, 1000};

/// Returns E[f(N)] over the distribution of N, in long double: P(N = n) = alpha^(n-1) (1 - alpha) for n <=
/// gamma, alpha^gamma at the end.
template <class F>
double expectation(double alpha, int gamma, const F& f) {
  long double sum = 0;
  long double reached = 1;
  for (int n = 1; n <= gamma; ++n) {
    sum += f(static_cast<long double>(n)) * reached * (1 - static_cast<long double>(alpha));
    reached *= alpha;
  }
  return static_cast<double>(sum + f(gamma + 1.0L) * reached);
}

bool close(double a, double b, double tolerance = 1e-13) {
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

}  // namespace

TEST_CASE("Eq. 1 and the variance of N agree with direct summation, at and near alpha = 1 too") {
  for (const double alpha : alphas) {
    for (const int gamma : gammas) {
      CAPTURE(alpha);
      CAPTURE(gamma);
      const double mean = expectation(alpha, gamma, [](long double n) { return n; });
      CHECK(close(expected_tokens(alpha, gamma), mean));
      CHECK(close(tokens_variance(alpha, gamma), expectation(alpha, gamma, [&](long double n) {
                    return (n - static_cast<long double>(mean)) * (n - static_cast<long double>(mean));
                  })));
    }
  }
  CHECK(expected_tokens(1, 7) == 8);
  CHECK(expected_tokens(0, 7) == 1);
  CHECK(tokens_variance(1, 7) == 0);
  CHECK(tokens_variance(0, 7) == 0);
}

TEST_CASE("the variance agrees with the closed form of the second moment where that does not cancel") {
  for (const double a : {0.1, 0.3, 0.6, 0.9}) {
    for (const int gamma : {1, 4, 10}) {
      const double m = gamma + 1;
      const double closed =
          (1 + a - (2 * m + 1) * std::pow(a, m) + (2 * m - 1) * std::pow(a, m + 1)) / ((1 - a) * (1 - a));
      const double mean = expected_tokens(a, gamma);
      CHECK(close(tokens_variance(a, gamma), closed - mean * mean, 1e-11));
    }
  }
}

TEST_CASE("Leviathan et al. 2023, Table 1 as printed (c = c_hat = 0)") {
  struct Printed {
    double alpha;
    int gamma;
    double operations;
    double speedup;
  };
  constexpr double half_digit = 0.005 + 1e-9;
  for (const Printed& row :
       {Printed{0.6, 2, 1.53, 1.96}, Printed{0.7, 3, 1.58, 2.53}, Printed{0.8, 2, 1.23, 2.44},
        Printed{0.8, 5, 1.63, 3.69}, Printed{0.9, 2, 1.11, 2.71}, Printed{0.9, 10, 1.60, 6.86}}) {
    CAPTURE(row.alpha);
    CAPTURE(row.gamma);
    CHECK(std::abs(operations(row.alpha, row.gamma, 0) - row.operations) <= half_digit);
    CHECK(std::abs(speedup(row.alpha, row.gamma, 0) - row.speedup) <= half_digit);
  }
}

TEST_CASE("the bigram draft of section 4.1: alpha about 0.2, gamma = 3, free, gives 1.25X") {
  CHECK(close(speedup(0.2, 3, 0), 1.248));
}

TEST_CASE("costs: Thm 3.8, Thm 3.11 and memory accesses by hand") {
  CHECK(close(speedup(0.5, 2, 0.25), 1.75 / 1.5));
  CHECK(close(operations(0.5, 2, 0.25), 3.5 / 1.75));
  CHECK(close(memory_accesses(0.5, 2), 1 / 1.75));
  CHECK(speedup(0, 5, 0.1) == doctest::Approx(1 / 1.5));
  CHECK(speedup(0.7, 0, 0.3) == doctest::Approx(1));
}

TEST_CASE("Cor. 3.9: the guarantee is met by gamma = 1, and exists only for alpha > c") {
  for (int a = 0; a <= 20; ++a) {
    for (int b = 0; b <= 20; ++b) {
      const double alpha = a / 20.0;
      const double c = b / 20.0;
      const auto guaranteed = guaranteed_speedup(alpha, c);
      CHECK(guaranteed.has_value() == (alpha > c));
      if (!guaranteed) continue;
      CHECK(*guaranteed > 1);
      CHECK(close(*guaranteed, speedup(alpha, 1, c)));
    }
  }
}

TEST_CASE("oracles bound every gamma, and have no value where they have no bound") {
  CHECK_FALSE(speedup_bound_drafting_free(1).has_value());
  CHECK_FALSE(speedup_bound_drafting_paid(1, 0).has_value());
  CHECK(speedup_bound_drafting_paid(1, 0.25).value() == 4);
  CHECK(close(speedup_bound_drafting_free(0.75).value(), 4));
  for (const double alpha : {0.0, 0.3, 0.8, 0.99}) {
    for (const double c : {0.0, 0.05, 0.5, 0.9}) {
      for (const int gamma : gammas) {
        CHECK(speedup(alpha, gamma, c) <= *speedup_bound_drafting_free(alpha) * (1 + 1e-12));
        // The oracle that pays for drafts drafts only tokens that will be accepted; it is faster than every
        // fixed gamma if drafting pays.
        if (c < 1) CHECK(speedup(alpha, gamma, c) <= *speedup_bound_drafting_paid(alpha, c) * (1 + 1e-12));
      }
    }
  }
}
