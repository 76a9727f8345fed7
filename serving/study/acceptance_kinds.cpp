// The acceptance laws of the section "serving".
#include <algorithm>
#include <cmath>

#include "experiments/base/format/config_error.hpp"
#include "serving/study/serving_kinds.hpp"
#include "serving/traces/confident_rounds.hpp"

namespace speclab {

namespace {

AcceptanceKind rate_law() {
  struct P {
    std::optional<double> rate;
    double spread = 0;
  };
  auto kind = kind_entry<AcceptanceKind, P>(
      "rate", "Every token is accepted at one rate, or each request has its own.",
      {field("rate", &P::rate, number(0, 1), "Acceptance rate (default: \"alpha\" of the config)."),
       field("spread", &P::spread, number(0, 0.5),
             "Standard deviation of the rate between requests (beta distributed).")},
      [](const P& own, const std::string& path, const AcceptanceRequest& request) -> AcceptanceLaw {
        if (!own.rate && !request.alpha)
          throw ConfigError("/alpha",
                            "missing; serving needs an acceptance rate, here or in /serving/acceptance");
        if (own.rate && request.alpha)
          throw ConfigError(path + "/rate", "is given beside \"alpha\"; leave one of them out");
        const double rate = own.rate ? *own.rate : *request.alpha;
        if (own.spread == 0) return iid_law(rate);
        if (!(own.spread * own.spread < rate * (1 - rate))) {
          throw ConfigError(path + "/spread",
                            "{}: rates from 0 to 1 with mean {} have a standard deviation below {:.4g}",
                            own.spread, rate, std::sqrt(rate * (1 - rate)));
        }
        return beta_law(rate, own.spread);
      });
  kind.of_alpha = true;
  return kind;
}

AcceptanceKind positions_law() {
  struct P {
    std::vector<double> rates;
  };
  auto kind = kind_entry<AcceptanceKind, P>(
      "positions", "A rate for each position.",
      {required(field("rates", &P::rates, list(number(0, 1), 1, longest_draft),
                      "Acceptance rate of each position, given that those before are accepted."))},
      [](const P& own, const auto&...) -> AcceptanceLaw { return position_law(own.rates); });
  kind.positions = [](const SelectedKind& selected) {
    return static_cast<std::uint32_t>(selected.as<P>().rates.size());
  };
  return kind;
}

/// Requests of one class.
struct RequestClass {
  double share = 0;
  /// Acceptance rates by position, each given that those before are accepted; the last also holds beyond.
  std::vector<double> positions;
};

AcceptanceKind classes_law() {
  struct P {
    std::vector<RequestClass> classes;
  };
  const auto one = object<RequestClass>(
      "serving class", "Requests of one kind.",
      {required(field("share", &RequestClass::share, number(0, 1),
                      "Share of all requests; the shares add up to 1.")),
       required(field(
           "positions", &RequestClass::positions, list(number(0, 1), 1, longest_draft),
           "Acceptance rate of each position, given that those before are accepted; later positions have the last rate."))});
  return kind_entry<AcceptanceKind, P>(
      "classes", "Requests of several kinds.",
      {required(field("classes", &P::classes, list(one, 1, 100), "The kinds."))},
      [](const P& own, const std::string& path, const auto&) -> AcceptanceLaw {
        ClassLaw law;
        double sum = 0;
        for (const RequestClass& known : own.classes) {
          law.classes.push_back({known.share, position_law(known.positions, true)});
          sum += known.share;
        }
        if (std::abs(sum - 1) > 1e-9)
          throw ConfigError(path + "/classes", "shares add up to {}, not to 1", sum);
        return law;
      });
}

/// Makes a kind for a law with a given mean, as engines simulate for benchmarks.
AcceptanceKind mean_law(const char* name, const char* sentence,
                        RoundLaw (*law)(double mean, std::uint32_t gamma)) {
  struct P {
    double mean = 0;
  };
  auto kind = kind_entry<AcceptanceKind, P>(
      name, sentence,
      {required(field("mean", &P::mean, number(0, longest_draft),
                      "Accepted tokens per round with \"gamma\" drafted ones."))},
      [law](const P& own, const std::string& path, const AcceptanceRequest& request) -> AcceptanceLaw {
        if (own.mean > request.gamma)
          throw ConfigError(path + "/mean", "{} accepted tokens are more than gamma, {}", own.mean,
                            request.gamma);
        return law(own.mean, request.gamma);
      });
  kind.of_one_gamma = true;
  return kind;
}

AcceptanceKind text_law() {
  struct P {
    double easy = 0;
    double hard = 0;
    double easy_tokens = 10;
    double hard_tokens = 10;
  };
  return kind_entry<AcceptanceKind, P>(
      "text", "Easy and hard passages of a text.",
      {required(field("easy", &P::easy, number(0, 1), "Acceptance rate in easy passages.")),
       field("hard", &P::hard, number(0, 1), "The same in hard passages."),
       field("easy_tokens", &P::easy_tokens, number(1, 1e9), "Mean length of an easy passage."),
       field("hard_tokens", &P::hard_tokens, number(1, 1e9), "Mean length of a hard passage.")},
      [](const P& own, const auto&...) -> AcceptanceLaw {
        return TextLaw{{own.easy, own.hard}, {1 / own.easy_tokens, 1 / own.hard_tokens}};
      });
}

/// Reads recorded rounds. Throws ConfigError if a round has fewer drafted tokens than the policy may draft.
RecordedRounds checked_rounds(const std::string& file, const std::string& path, std::uint32_t max_drafted) {
  RecordedRounds law;
  try {
    law = read_confident_rounds(file);
  } catch (const UsageError& error) {
    throw ConfigError(path, error.what());
  } catch (const ConfigError& error) {
    throw ConfigError(path, "{}: {}", file, error.what());
  }
  std::size_t shortest = law.rounds->front().confidences.size();
  for (const auto& round : *law.rounds) shortest = std::min(shortest, round.confidences.size());
  if (shortest >= max_drafted) return law;
  throw ConfigError(
      path, "{}: a round of {} drafted tokens; the policy drafts up to {}, and longer drafts are unknown",
      file, shortest, max_drafted);
}

AcceptanceKind recorded_rounds_law() {
  struct P {
    std::string file;
  };
  return kind_entry<AcceptanceKind, P>(
      "recorded", "Rounds as they were recorded, with the draft's confidences.",
      {required(field(
          "file", &P::file, input_file(),
          "One JSON object per line: {\"accepted\": 2, \"confidences\": [0.9, 0.8, 0.3]}, with a \"weight\" or without one."))},
      [](const P& own, const std::string& path, const AcceptanceRequest& request) -> AcceptanceLaw {
        return checked_rounds(own.file, path + "/file", request.max_drafted);
      });
}

}  // namespace

Family<AcceptanceKind>& acceptance_family() {
  static Family<AcceptanceKind> family("law of acceptance", "Laws of acceptance", nullptr, [] {
    return std::vector{
        rate_law(),
        positions_law(),
        classes_law(),
        mean_law("constant_rate", "Every token has the same rate, which gives the mean.", constant_rate_law),
        mean_law("least_variance", "Every round accepts one of the two whole numbers around the mean.",
                 [](double mean, std::uint32_t) { return least_variance_law(mean); }),
        mean_law("all_or_none", "Every round accepts all gamma tokens or none; the mean is given.",
                 all_or_none_law),
        text_law(),
        recorded_rounds_law()};
  });
  return family;
}

}  // namespace speclab
