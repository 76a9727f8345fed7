// How many drafted tokens a request accepts in a round. Laws of one mean differ in what follows from them:
// in how ragged a batch is, in tails, and in what a policy learns.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace speclab {

/// Every round alike: the first j drafted tokens are all accepted with probability survival[j - 1], which
/// does not rise with j; beyond the last, none. One number a round decides.
struct RoundLaw {
  std::vector<double> survival;
};

/// A request has an acceptance rate of its own, Beta(a, b), and its tokens are accepted independently.
struct RequestLaw {
  double a = 1;
  double b = 1;
};

/// Requests of several classes, each with a law of its own: easy ones need fewer rounds, so that rounds meet
/// hard ones more often, the more so the larger gamma is.
struct ClassLaw {
  struct Class {
    double share = 0;  ///< of requests; shares add up to 1
    RoundLaw law;
  };
  std::vector<Class> classes;
};

/// Positions of the text are easy or hard (0, 1), in runs: a Markov chain along the text. A draft for a
/// position is accepted with the rate of its state. Long accepted drafts then end where text gets hard, and
/// the next round starts there: the rate of the first drafted token falls as gamma grows.
struct TextLaw {
  std::array<double, 2> rate{1, 0};      ///< by state
  std::array<double, 2> leaves{.1, .1};  ///< probability that the next position has the other state
};

/// Rounds as they were recorded, with what the draft said of each of its tokens. They are drawn by their
/// weights, independently.
struct RecordedRounds {
  struct Round {
    std::uint32_t accepted = 0;      ///< no more than there are confidences
    std::vector<float> confidences;  ///< of all drafted tokens: the probability that each is accepted
    double weight = 1;
  };
  std::shared_ptr<const std::vector<Round>> rounds;  ///< weights summed up, 1 the last
};

using AcceptanceLaw = std::variant<RoundLaw, RequestLaw, ClassLaw, TextLaw, RecordedRounds>;

/// Longest draft that laws are asked for.
inline constexpr std::uint32_t longest_draft = 64;

/// Independent tokens of one rate (Leviathan et al. 2023, section 3.1).
RoundLaw iid_law(double alpha);
/// The rate of each position given that those before are accepted. Beyond the last nothing is accepted, or
/// with `goes_on` tokens are accepted at the last rate.
RoundLaw position_law(std::span<const double> conditional, bool goes_on = false);
/// Rates of requests with this mean and standard deviation; 0 < spread^2 < mean (1 - mean).
RequestLaw beta_law(double mean, double spread);
/// Counts of rounds by accepted tokens, 0 first.
RoundLaw recorded_law(std::span<const std::uint64_t> rounds);
/// Two neighbouring whole numbers whose mean is `mean` accepted tokens: the least variance (synthetic
/// acceptance of vLLM, ATOM and aisimulate).
RoundLaw least_variance_law(double mean);
/// One rate a token, such that `gamma` drafted tokens have a mean of `mean` accepted ones (llama.cpp's
/// synthetic acceptance, pull request 27711). 0 <= mean <= gamma.
RoundLaw constant_rate_law(double mean, std::uint32_t gamma);
/// All of `gamma` tokens or none.
RoundLaw all_or_none_law(double mean, std::uint32_t gamma);

/// Weights are above 0 together; they need not add up to 1.
RecordedRounds recorded_rounds(std::vector<RecordedRounds::Round> rounds);

/// What one request knows of its own acceptance.
struct RequestAcceptance {
  double log_rate = 0;         ///< of RequestLaw
  std::uint32_t position = 0;  ///< of TextLaw: in the text that is out
  std::uint8_t state = 0;      ///< of TextLaw: at that position; of ClassLaw: the class
};

/// Draws acceptances of requests, by address: a number is a function of the seed, the request and the round
/// (of TextLaw the position), so that policies are compared on the same luck.
class AcceptanceDraws {
 public:
  AcceptanceDraws(AcceptanceLaw law, std::uint64_t seed);

  std::uint64_t seed() const { return seed_; }
  RequestAcceptance begin(std::uint32_t request) const;
  /// Accepted of `gamma` drafted tokens in this round. `keep` is the factor of every token's rate, below 1
  /// where the draft has missed text.
  std::uint32_t accepted(const RequestAcceptance& own, std::uint32_t request, std::uint32_t round,
                         std::uint32_t gamma, double keep) const;
  /// Whether the draft was made for the outcome of the round before `round`, of probability `hit`
  /// (serving/server/draft_device.hpp).
  bool drafted_for(std::uint32_t request, std::uint32_t round, double hit) const;
  /// Of RecordedRounds: what the draft of this round said of its tokens.
  std::span<const float> recorded_confidences(std::uint32_t request, std::uint32_t round) const;
  /// The text has grown by `emitted` tokens.
  void advance(RequestAcceptance& own, std::uint32_t request, std::uint32_t emitted) const;

 private:
  AcceptanceLaw law_;
  std::uint64_t seed_;
};

/// Mean accepted of `gamma` drafted tokens, over rounds in the long run with this gamma. Of RequestLaw and
/// ClassLaw over rounds of requests of equally many rounds, which outputs of equally many tokens have not; of
/// TextLaw by the chain of states at which rounds start.
double mean_accepted(const AcceptanceLaw& law, std::uint32_t gamma);

}  // namespace speclab
