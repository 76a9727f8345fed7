// The argument `draw` of a rule or drafter written in Python: an interface to any kind of random source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "core/random/enumerated_random_source.hpp"
#include "python/bindings/numbers.hpp"

namespace speclab::python {

/// The object that the Python function gets; all its functions need the GIL.
class PythonDraw {
 public:
  PythonDraw() = default;
  PythonDraw(const PythonDraw&) = delete;
  PythonDraw& operator=(const PythonDraw&) = delete;
  virtual ~PythonDraw() = default;

  virtual bool bernoulli(nb::handle probability) = 0;
  /// Draws an id with probability proportional to `weights`; if they sum to 0, to `otherwise`, unless it is
  /// None.
  virtual Token categorical(nb::handle weights, nb::handle otherwise) = 0;
};

/// The draws that a function made at each point of an enumeration, and what it returned. An enumeration runs
/// the function once per branch, and twice in all, so the function must do the same at the same point: its
/// results may depend only on its arguments and draws.
class AskedDraws {
 public:
  /// Checks a draw or a result. `point` identifies the arguments and the outcomes so far, `question` the draw
  /// or result. Throws ValueError if the function did something else at this point before.
  void check(const std::string& point, std::size_t question);

 private:
  std::unordered_map<std::string, std::size_t> asked_;
};

inline std::size_t hash_of(double value) { return std::hash<double>{}(value); }
inline std::size_t hash_of(const Rational& value) { return std::hash<std::string>{}(value.str()); }
template <class Real>
std::size_t hash_of(const std::vector<Real>& values) {
  std::size_t hash = values.size();
  for (const Real& value : values) hash = hash * 1000003 + hash_of(value);
  return hash;
}

template <class Random>
struct Enumerates : std::false_type {};
template <class Real>
struct Enumerates<EnumeratedRandomSource<Real>> : std::true_type {};

/// The uses in the addresses of a run's random numbers. If both are the same, all draws are counted together.
struct DrawUses {
  Use bernoulli = Use::accept;
  Use categorical = Use::replace;
};

/// Makes the draws of one run of a rule or a drafter. The k-th bernoulli of a run has the address
/// (uses.bernoulli, first + k), the k-th categorical (uses.categorical, first + k).
template <class Real, class Random>
class DrawFrom final : public PythonDraw {
 public:
  /// `point` identifies the function's arguments.
  DrawFrom(Random& random, std::int32_t vocab, AskedDraws& asked, std::string point, std::uint16_t first,
           DrawUses uses = {})
      : random_(&random),
        vocab_(vocab),
        asked_(asked),
        point_(std::move(point)),
        uses_(uses),
        bernoullis_(first),
        categoricals_(first) {}

  bool bernoulli(nb::handle probability) override {
    Random& random = open();
    const Real chance = number_of<Real>(probability, "draw.bernoulli(probability)");
    if constexpr (Enumerates<Random>::value) asked_.check(point_, hash_of(chance));
    const bool outcome =
        random.bernoulli(Draw{uses_.bernoulli, next(one_count() ? categoricals_ : bernoullis_)}, chance);
    remember(outcome ? 1 : 0);
    return outcome;
  }

  Token categorical(nb::handle weights, nb::handle otherwise) override {
    Random& random = open();
    const std::vector<Real> chances = row(weights, "draw.categorical(weights)");
    if constexpr (Enumerates<Random>::value) asked_.check(point_, hash_of(chances) + 1);
    const Draw draw{uses_.categorical, next(categoricals_)};
    Token outcome = random.categorical(draw, BasicRow<Real>{chances.data(), vocab_});
    if (outcome == no_token && !otherwise.is_none()) {
      const std::vector<Real> instead = row(otherwise, "draw.categorical(otherwise)");
      outcome = random.categorical(draw, BasicRow<Real>{instead.data(), vocab_});
    }
    if (outcome < 0) {
      throw nb::value_error(
          "draw.categorical(weights): they sum to 0 or to infinity; give otherwise=, the weights to draw "
          "from then "
          "(for a residual: the target's row)");
    }
    remember(outcome);
    return outcome;
  }

  /// Ends the draws once the function has returned.
  void close() { random_ = nullptr; }
  /// In an enumeration: throws ValueError if the function drew again, or returned something else, after the
  /// same draws.
  void check_end(std::size_t returned) { asked_.check(point_, returned * 31 + 2); }

 private:
  static constexpr std::uint16_t max_draws = 60000;

  bool one_count() const { return uses_.bernoulli == uses_.categorical; }

  Random& open() const {
    if (random_ == nullptr) throw std::runtime_error("draw: used after the rule had returned");
    return *random_;
  }

  std::vector<Real> row(nb::handle weights, const char* name) const {
    std::vector<Real> row = weights_of<Real>(weights, name);
    if (row.size() == static_cast<std::size_t>(vocab_)) return row;
    raise(PyExc_ValueError, (std::string(name) + ": " + std::to_string(row.size()) +
                             " weights; the vocabulary has " + std::to_string(vocab_) + " tokens"));
  }

  static std::uint16_t next(std::uint16_t& count) {
    if (count == max_draws) throw nb::value_error("draw: more than 60,000 draws in one run of a rule");
    return count++;
  }

  void remember(Token outcome) {
    if constexpr (Enumerates<Random>::value)
      point_.append(reinterpret_cast<const char*>(&outcome), sizeof(outcome));
  }

  Random* random_;
  std::int32_t vocab_;
  AskedDraws& asked_;
  std::string point_;
  DrawUses uses_;
  std::uint16_t bernoullis_;
  std::uint16_t categoricals_;
};

}  // namespace speclab::python
