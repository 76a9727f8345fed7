// How many drafted tokens a request accepts in a round. Laws of one mean differ in how ragged they make a
// batch, in their tails, and in what a policy learns from them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace speclab {

/// All rounds have one law: the first j drafted tokens are all accepted with probability survival[j - 1],
/// which does not rise with j. Tokens beyond the last entry are never accepted. One random number decides a
/// round.
struct RoundLaw {
  std::vector<double> survival;
};

/// Each request draws its own acceptance rate from Beta(a, b), and accepts its tokens independently at that
/// rate.
struct RequestLaw {
  double a = 1;
  double b = 1;
};

/// Requests belong to classes, each with its own law. Easy requests need fewer rounds, so that rounds are
/// those of hard requests more often, increasingly so with a larger gamma.
struct ClassLaw {
  struct Class {
    double share = 0;  ///< share of requests; all shares add up to 1
    RoundLaw law;
  };
  std::vector<Class> classes;
};

/// Positions of the text are easy or hard (0, 1): a Markov chain along the text. A draft for a position is
/// accepted with the rate of its state. A round therefore tends to end where text gets hard, and the next
/// round starts there: the rate of the first drafted token falls as gamma grows.
struct TextLaw {
  std::array<double, 2> rate{1, 0};      ///< one per state
  std::array<double, 2> leaves{.1, .1};  ///< probability that the next position has the other state
};

/// Recorded rounds, with the confidence of the draft in each of its tokens. Rounds are drawn independently,
/// in proportion to their weights.
struct RecordedRounds {
  struct Round {
    std::uint32_t accepted = 0;      ///< at most the number of confidences
    std::vector<float> confidences;  ///< for each drafted token, the probability that it is accepted
    double weight = 1;
  };
  /// The recorded rounds. Each `weight` is the sum of the weights up to its round; the last is 1.
  std::shared_ptr<const std::vector<Round>> rounds;
};

using AcceptanceLaw = std::variant<RoundLaw, RequestLaw, ClassLaw, TextLaw, RecordedRounds>;

/// The longest draft that any law describes.
inline constexpr std::uint32_t longest_draft = 64;

/// Returns the law of independent tokens with one rate (Leviathan et al. 2023, section 3.1).
RoundLaw iid_law(double alpha);
/// Returns the law with these rates by position, each given that all tokens before it are accepted. Beyond
/// the last position nothing is accepted; with `goes_on`, tokens there are accepted at the last rate.
RoundLaw position_law(std::span<const double> conditional, bool goes_on = false);
/// Returns the law whose rates of requests have this mean and standard deviation; 0 < spread^2 < mean (1 -
/// mean).
RequestLaw beta_law(double mean, double spread);
/// Returns the law of recorded rounds; rounds[k] counts those that accepted k tokens.
RoundLaw recorded_law(std::span<const std::uint64_t> rounds);
/// Returns the law with a mean of `mean` accepted tokens and the least variance: it accepts one of the two
/// whole numbers around the mean (synthetic acceptance of vLLM, ATOM and aisimulate).
RoundLaw least_variance_law(double mean);
/// Returns the law with one rate for all tokens such that `gamma` drafted tokens have a mean of `mean`
/// accepted ones (llama.cpp's synthetic acceptance, pull request 27711). 0 <= mean <= gamma.
RoundLaw constant_rate_law(double mean, std::uint32_t gamma);
/// Returns the law that accepts either all `gamma` drafted tokens or none.
RoundLaw all_or_none_law(double mean, std::uint32_t gamma);

/// Returns the law that draws these rounds by their weights, which need not add up to 1; their sum must be
/// above 0.
RecordedRounds recorded_rounds(std::vector<RecordedRounds::Round> rounds);

/// The acceptance state of one request.
struct RequestAcceptance {
  double log_rate = 0;         ///< RequestLaw: the logarithm of the request's rate
  std::uint32_t position = 0;  ///< TextLaw: tokens emitted so far
  std::uint8_t state = 0;      ///< TextLaw: the state at that position; ClassLaw: the class
};

/// Draws how many tokens requests accept. Each number is a function of the seed, the request and the round
/// (TextLaw: the position), so that all policies are compared on the same random numbers.
class AcceptanceDraws {
 public:
  AcceptanceDraws(AcceptanceLaw law, std::uint64_t seed);

  std::uint64_t seed() const { return seed_; }
  RequestAcceptance begin(std::uint32_t request) const;
  /// Returns how many of `gamma` drafted tokens this round accepts.
  std::uint32_t accepted(const RequestAcceptance& own, std::uint32_t request, std::uint32_t round,
                         std::uint32_t gamma) const;
  /// Returns whether the draft device prepared drafts for the outcome of the round before `round`, which it
  /// did with probability `hit` (serving/server/draft_device.hpp).
  bool drafted_for(std::uint32_t request, std::uint32_t round, double hit) const;
  /// RecordedRounds: returns the draft's confidences in the tokens of this round.
  std::span<const float> recorded_confidences(std::uint32_t request, std::uint32_t round) const;
  /// Records that the text has grown by `emitted` tokens.
  void advance(RequestAcceptance& own, std::uint32_t request, std::uint32_t emitted) const;

 private:
  AcceptanceLaw law_;
  std::uint64_t seed_;
};

/// Returns the mean accepted tokens of rounds with `gamma` drafted tokens, in the long run. RequestLaw and
/// ClassLaw: the mean over requests with equally many rounds, which requests with equally many output tokens
/// do not have. TextLaw: by the chain of states at which rounds start.
double mean_accepted(const AcceptanceLaw& law, std::uint32_t gamma);

}  // namespace speclab
