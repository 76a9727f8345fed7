// Any ByPosition rule (core/rules/by_position.hpp) as one value, so that rounds are compiled once for all of
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "core/polymorphic.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

/// Returns the statistics of DenseRows without passes over the two rows. If one is not known, it sets
/// `missing`, and numbers computed from it are meaningless.
class RowLookups : public Polymorphic {
 public:
  using Real = double;

  virtual LikelyToken<double> target_best() const = 0;
  virtual LikelyToken<double> target_ranked(std::int32_t k) const = 0;
  virtual LikelyToken<double> draft_best() const = 0;
  virtual double total_variation() const = 0;
  virtual double minus_entropy() const = 0;
  virtual double smallest_ratio() const = 0;
  virtual double draft_below(double bar) const = 0;
  template <class Term>
  double sum(const Term&) const {
    missing = true;
    return 0;
  }

  mutable bool missing = false;
};

/// The compiled code for one rule.
class PositionProgram : public Polymorphic {
 public:
  virtual Correction correction() const = 0;
  virtual bool reads_numbers() const = 0;
  virtual PositionNumbers<double> numbers(const DenseRows<double>& rows) const = 0;
  virtual PositionNumbers<double> numbers(const RowLookups& rows) const = 0;
  virtual double acceptance(const PositionNumbers<double>& here, Token token, double p, double q) const = 0;
  virtual double residual_scale() const = 0;
  virtual double share(const PositionNumbers<double>& here, double p, double q) const = 0;
};

template <PositionForm Rule>
class PositionProgramOf final : public PositionProgram {
 public:
  explicit PositionProgramOf(const Rule& rule) : rule_(rule) {}

  Correction correction() const override { return rule_.correction; }
  bool reads_numbers() const override { return ReadsNumbers<Rule>; }
  PositionNumbers<double> numbers(const DenseRows<double>& rows) const override {
    return position_numbers(rule_, rows);
  }
  PositionNumbers<double> numbers(const RowLookups& rows) const override {
    return position_numbers(rule_, rows);
  }
  double acceptance(const PositionNumbers<double>& here, Token token, double p, double q) const override {
    return position_acceptance(rule_, here, token, p, q);
  }
  double residual_scale() const override {
    if constexpr (requires { rule_.template residual_scale<double>(); })
      return rule_.template residual_scale<double>();
    return 1;
  }
  double share([[maybe_unused]] const PositionNumbers<double>& here, [[maybe_unused]] double p,
               [[maybe_unused]] double q) const override {
    if constexpr (requires { rule_.share(here, p, q); }) return rule_.share(here, p, q);
    return 1;
  }

 private:
  Rule rule_;
};

/// Any ByPosition rule, itself a ByPosition rule in double.
class AnyPositionRule {
 public:
  using SaidByPosition = AnyPositionRule;

  explicit AnyPositionRule(std::shared_ptr<const PositionProgram> program)
      : correction(program->correction()), program_(std::move(program)) {}
  template <PositionForm Rule>
  explicit AnyPositionRule(const Rule& rule)
      : AnyPositionRule(std::make_shared<const PositionProgramOf<Rule>>(rule)) {}

  bool reads_numbers() const { return program_->reads_numbers(); }
  template <class Rows>
  PositionNumbers<double> numbers(const Rows& rows) const {
    return program_->numbers(rows);
  }
  double acceptance_probability(const PositionNumbers<double>& here, Token token, double p, double q) const {
    return program_->acceptance(here, token, p, q);
  }
  template <class Real>
  double residual_scale() const {
    return program_->residual_scale();
  }
  double share(const PositionNumbers<double>& here, double p, double q) const {
    return program_->share(here, p, q);
  }

  Correction correction;

 private:
  std::shared_ptr<const PositionProgram> program_;
};

}  // namespace speclab
