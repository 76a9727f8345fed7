// Acceptance laws: probability models of how many drafted tokens a round accepts. Laws with one mean differ
// in how uneven they make a batch, in their tails, and in what a policy learns from them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace speclab {

/// Rounds are identically distributed: the first j drafted tokens are all accepted with probability
/// survival[j - 1], which does not rise with j; tokens beyond the last never. It takes one random number.
struct RoundLaw {
  std::vector<double> survival;
};

/// Each request draws an acceptance rate from Beta(a, b), and accepts tokens independently at that rate.
struct BetaLaw {
  double a = 1;
  double b = 1;
};

/// Each request belongs to a class with a law of its own. Hard requests need more rounds, so they make up a
/// larger share of rounds than of requests, the more so the larger gamma is.
struct ClassLaw {
  struct Class {
    double share = 0;  ///< share of requests; shares sum to 1
    RoundLaw law;
  };
  std::vector<Class> classes;
};

/// Positions of the text are easy or hard (0, 1), as a Markov chain along the text. A drafted token is
/// accepted at the rate of its position's state. A round thus tends to end where text gets hard, and the next
/// starts there: the rate of the first drafted token falls as gamma grows.
struct TextLaw {
  std::array<double, 2> rate{1, 0};      ///< one per state
  std::array<double, 2> leaves{.1, .1};  ///< P(next position has the other state)
};

/// Recorded rounds, with the draft's confidence in each token, drawn independently by weight.
struct RecordedRounds {
  struct Round {
    std::uint32_t accepted = 0;      ///< at most the number of confidences
    std::vector<float> confidences;  ///< for each drafted token, its probability of acceptance
    double weight = 1;
  };
  /// Each `weight` is cumulative: the sum of the weights up to its round; the last is 1.
  std::shared_ptr<const std::vector<Round>> rounds;
};

using AcceptanceLaw = std::variant<RoundLaw, BetaLaw, ClassLaw, TextLaw, RecordedRounds>;

/// Longest draft of any law.
inline constexpr std::uint32_t longest_draft = 64;

/// Returns a law that accepts tokens independently at one rate (Leviathan et al. 2023, section 3.1).
RoundLaw iid_law(double alpha);
/// Returns a law with these rates by position, each given that all tokens before it are accepted. It accepts
/// nothing beyond the last position, or, with `goes_on`, at the last rate.
RoundLaw position_law(std::span<const double> conditional, bool goes_on = false);
/// Returns a law whose request rates have this mean and standard deviation; 0 < spread^2 < mean (1 - mean).
BetaLaw beta_law(double mean, double spread);
/// Returns a law that accepts one of the two integers around `mean`: on average `mean` tokens, with the
/// least variance (synthetic acceptance of vLLM, ATOM and aisimulate).
RoundLaw least_variance_law(double mean);
/// Returns a law with one rate for all tokens, such that `mean` of `gamma` drafted tokens are accepted on
/// average (llama.cpp's synthetic acceptance, pull request 27711). 0 <= mean <= gamma.
RoundLaw constant_rate_law(double mean, std::uint32_t gamma);
/// Returns a law that accepts all `gamma` drafted tokens or none.
RoundLaw all_or_none_law(double mean, std::uint32_t gamma);

/// Returns a law that draws these rounds by weight. Weights need not sum to 1; their sum must be above 0.
RecordedRounds recorded_rounds(std::vector<RecordedRounds::Round> rounds);

/// A request's acceptance state.
struct RequestAcceptance {
  double log_rate = 0;         ///< BetaLaw: the logarithm of the request's rate
  std::uint32_t position = 0;  ///< TextLaw: tokens emitted so far
  std::uint8_t state = 0;      ///< TextLaw: the state at that position; ClassLaw: the class
};

/// Draws how many tokens requests accept. Each number is a function of seed, request and round (TextLaw:
/// position), so all policies are compared on the same random numbers.
class AcceptanceDraws {
 public:
  AcceptanceDraws(AcceptanceLaw law, std::uint64_t seed);

  std::uint64_t seed() const { return seed_; }
  RequestAcceptance begin(std::uint32_t request) const;
  /// Returns how many of `gamma` drafted tokens this round accepts.
  std::uint32_t accepted(const RequestAcceptance& own, std::uint32_t request, std::uint32_t round,
                         std::uint32_t gamma) const;
  /// RecordedRounds: returns the draft's confidence in each token of this round.
  std::span<const float> recorded_confidences(std::uint32_t request, std::uint32_t round) const;
  /// Advances a request's text by `emitted` tokens.
  void advance(RequestAcceptance& own, std::uint32_t request, std::uint32_t emitted) const;

 private:
  AcceptanceLaw law_;
  std::uint64_t seed_;
};

/// Returns the long-run mean of accepted tokens in rounds with `gamma` drafted tokens. BetaLaw and
/// ClassLaw: over requests with equally many rounds, unlike requests with equally many output tokens.
/// TextLaw: by the chain of states at which rounds start.
double mean_accepted(const AcceptanceLaw& law, std::uint32_t gamma);

}  // namespace speclab
