#include "experiments/proof_survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <map>

#include "core/distribution/number.hpp"
#include "core/random/philox.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/report/page.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// Most branches of one instance: tens of milliseconds of rational arithmetic.
constexpr double few_branches = 10000;

enum class Kind { generic, zeros, point_target, point_draft, equal, disjoint };
constexpr int kinds = 6;

/// Integers in [least, most], addressed.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint32_t number) : stream_(seed, Site{number, 0, Draw{Use::world, 0}}) {}
  int operator()(int least, int most) {
    return boost::random::uniform_int_distribution<int>(least, most)(stream_);
  }

 private:
  Philox stream_;
};

std::vector<Rational> normalised(const std::vector<int>& weights) {
  int total = 0;
  for (const int weight : weights) total += weight;
  std::vector<Rational> row;
  row.reserve(weights.size());
  for (const int weight : weights) row.push_back(Rational(weight) / total);
  return row;
}

/// Weights 1..9, or 0..9 with a third of zeros, restricted to ids of one parity when `side` is 0 or 1.
std::vector<int> random_weights(Dice& dice, int vocab, bool zeros, int side) {
  std::vector<int> weights;
  for (int id = 0; id < vocab; ++id) {
    int weight = dice(1, 9);
    if (zeros && dice(1, 3) == 1) weight = 0;
    if (side >= 0 && id % 2 != side) weight = 0;
    weights.push_back(weight);
  }
  if (std::all_of(weights.begin(), weights.end(), [](int weight) { return weight == 0; })) {
    weights[static_cast<std::size_t>(side > 0 ? 1 : 0)] = 1;
  }
  return weights;
}

std::vector<int> random_point(Dice& dice, int vocab) {
  std::vector<int> weights(static_cast<std::size_t>(vocab), 0);
  weights[static_cast<std::size_t>(dice(0, vocab - 1))] = 1;
  return weights;
}

void fill_rows(Dice& dice, Kind kind, int vocab, int rows, ProofTask& task) {
  task.target.clear();
  task.draft.clear();
  for (int row = 0; row < rows; ++row) {
    const bool zeros = kind == Kind::zeros;
    const bool disjoint = kind == Kind::disjoint;
    const auto target = kind == Kind::point_target ? random_point(dice, vocab)
                                                   : random_weights(dice, vocab, zeros, disjoint ? 0 : -1);
    const auto draft = kind == Kind::equal         ? target
                       : kind == Kind::point_draft ? random_point(dice, vocab)
                                                   : random_weights(dice, vocab, zeros, disjoint ? 1 : -1);
    task.target.push_back(normalised(target));
    task.draft.push_back(normalised(draft));
  }
}

/// All probability on the lowest id of the largest.
void take_argmax(ExactRows& rows) {
  for (auto& row : rows) {
    const auto best = std::max_element(row.begin(), row.end());
    for (auto probability = row.begin(); probability != row.end(); ++probability)
      *probability = probability == best ? 1 : 0;
  }
}

Json with_drafts(const SurveyedVerifier& verifier, std::int32_t drafts) {
  Json spec = verifier.spec;
  const Shape& shape = *verifier_family().find(spec.at("kind").get<std::string>());
  for (const Field& field : shape.fields) {
    if (field.name == "drafts") spec["drafts"] = drafts;
  }
  return resolve_kind(spec, verifier_family(), "/verifier");
}

/// P(first token) under a distribution of sequences.
std::map<std::string, Rational> first_tokens(const Json& distribution) {
  std::map<std::string, Rational> marginal;
  for (const auto& [key, value] : distribution.items()) {
    marginal[key.substr(0, key.find(','))] += Rational(value.get<std::string>());
  }
  return marginal;
}

/// Is P(first token) <= p / l for each token? (Leviathan et al. 2023, A.5, for the residuals that promise
/// it.)
bool within_lenience(const Json& proof, double lenience) {
  const Rational l(decimal_fraction(lenience));
  std::map<std::string, Rational> target = first_tokens(proof.at("target_law"));
  for (const auto& [token, probability] : first_tokens(proof.at("law"))) {
    if (probability * l > target[token]) return false;
  }
  return true;
}

double as_double(const Json& fraction) { return static_cast<double>(Rational(fraction.get<std::string>())); }

/// Rows as `speclab prove` reads them.
std::string rows_text(const ExactRows& rows) {
  std::string out;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row > 0) out += ";";
    for (std::size_t id = 0; id < rows[row].size(); ++id) {
      if (id > 0) out += ",";
      out += rows[row][id].str();
    }
  }
  return out;
}

/// What a reader types to see one instance again.
std::string command_for(const ProofTask& task) {
  std::string command = "speclab prove";
  for (const auto& [key, value] : task.verifier.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (key == "kind") {
      command += " --verifier " + text;
    } else if (key == "drafts" || key == "lenience" || key == "residual") {
      command += fmt::format(" --{} {}", key, text);
    } else {
      command += fmt::format(" --param {}={}", key, text);
    }
  }
  return fmt::format("{} --target \"{}\" --draft \"{}\" --gamma {} --exact", command, rows_text(task.target),
                     rows_text(task.draft), task.gamma);
}

/// A fraction that fits a line, else its value.
std::string short_fraction(const Json& fraction) {
  constexpr std::size_t longest = 24;
  const auto text = fraction.get<std::string>();
  return text.size() <= longest ? text : fmt::format("{:.12g}", as_double(fraction));
}

/// What stands at the end of a row that a reader should look at twice.
const char* remark(const Json& row) {
  if (!row.at("kept").get<bool>()) return "   PROMISE BROKEN";
  const bool refuted = row.contains("counterexample");
  return row.at("promise") == "lossy" && !refuted ? "   not refuted" : "";
}

/// What a survey keeps of one proof.
struct Finding {
  Rational distance;
  double acceptance = 0;
  double optimal_transport_bound = 0;
  std::uint64_t branches = 0;
  bool bounded = true;  ///< lenience's bound
};

Finding look(const SurveyedVerifier& verifier, const ProofTask& task) {
  const Json proof = prove(task, true);
  Finding finding;
  finding.distance = Rational(proof.at("tv").get<std::string>());
  finding.acceptance = as_double(proof.at("acceptance"));
  finding.optimal_transport_bound = as_double(proof.at("optimum"));
  finding.branches = proof.at("branches").get<std::uint64_t>();
  if (verifier.spec.contains("residual")) {
    finding.bounded = within_lenience(proof, verifier.spec.at("lenience").get<double>());
  }
  return finding;
}

Json summary(const SurveyedVerifier& verifier, std::uint64_t seed, const std::vector<Finding>& findings) {
  std::size_t lossless = 0;
  std::size_t worst = 0;
  std::size_t bounded = 0;
  std::uint64_t branches = 0;
  double acceptance = 0;
  double optimal_transport_bound = 0;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].distance == 0) ++lossless;
    if (findings[i].distance > findings[worst].distance) worst = i;
    if (findings[i].bounded) ++bounded;
    branches += findings[i].branches;
    acceptance += findings[i].acceptance / static_cast<double>(findings.size());
    optimal_transport_bound += findings[i].optimal_transport_bound / static_cast<double>(findings.size());
  }
  const bool lossy = verifier.promise == Promise::lossy;
  Json row{{"verifier", verifier.label},
           {"promise", lossy                                           ? "lossy"
                       : verifier.promise == Promise::lossless_at_zero ? "lossless at temperature 0"
                                                                       : "lossless"},
           {"kept", lossy || lossless == findings.size()},
           {"instances", findings.size()},
           {"lossless", lossless},
           {"worst_tv", findings[worst].distance.str()},
           {"mean_acceptance", acceptance},
           {"mean_optimum", optimal_transport_bound},
           {"branches", branches}};
  if (verifier.spec.contains("residual")) row["within_p_over_l"] = bounded;
  if (lossless < findings.size()) {
    const ProofTask task = survey_instance(verifier, seed, static_cast<std::uint32_t>(worst));
    const Json proof = prove(task, true);
    row["counterexample"] = {{"command", command_for(task)},
                             {"tokens", proof.at("counterexample").at("tokens")},
                             {"law", proof.at("counterexample").at("law")},
                             {"target_law", proof.at("counterexample").at("target_law")}};
  }
  return row;
}

}  // namespace

const std::vector<SurveyedVerifier>& surveyed_verifiers() {
  const auto lenient = [](const char* residual) {
    return SurveyedVerifier{fmt::format("lenient l=0.5 {}", residual),
                            {{"kind", "lenient"}, {"lenience", 0.5}, {"residual", residual}},
                            Promise::lossy};
  };
  const auto plain = [](const char* kind, Promise promise) {
    return SurveyedVerifier{kind, {{"kind", kind}}, promise};
  };
  static const std::vector<SurveyedVerifier> all{
      plain("token", Promise::lossless),
      plain("match", Promise::lossless),
      plain("gumbel", Promise::lossless),
      plain("rejection", Promise::lossless),
      plain("greedy", Promise::lossless_at_zero),
      plain("block", Promise::lossless),
      plain("recursive", Promise::lossless),
      plain("without-replacement", Promise::lossless),
      plain("k-seq", Promise::lossless),
      plain("importance", Promise::lossless),
      plain("tree", Promise::lossless),
      {"tree, dynamic", {{"kind", "tree"}, {"growth", "dynamic"}, {"nodes", 4}}, Promise::lossless},
      plain("traversal", Promise::lossless),
      lenient("target_minus_draft"),
      lenient("literal"),
      lenient("target"),
      {"lenient-greedy l=0.5", {{"kind", "lenient-greedy"}, {"lenience", 0.5}}, Promise::lossy},
      plain("typical", Promise::lossy),
      plain("cascade", Promise::lossy),
      plain("sigmoid", Promise::lossy)};
  return all;
}

ProofTask survey_instance(const SurveyedVerifier& verifier, std::uint64_t seed, std::uint32_t number) {
  Dice dice(seed, number);
  const auto kind = static_cast<Kind>(dice(0, kinds - 1));
  int vocab = dice(2, 4);
  int drafts = dice(1, 3);
  const bool chain = dice(0, 1) == 1;
  ProofTask task;
  task.gamma = dice(1, 3);
  // The bound sees full supports, so that an instance's size does not depend on its zeros.
  const auto too_large = [&] {
    const auto width = static_cast<std::size_t>(vocab);
    task.target.assign(1, std::vector<Rational>(width, Rational(1)));
    task.draft = task.target;
    task.verifier = with_drafts(verifier, drafts);
    return branch_bound(task) > few_branches;
  };
  while (too_large()) {
    if (task.gamma >= drafts && task.gamma > 1) {
      --task.gamma;
    } else if (drafts > 1) {
      --drafts;
    } else {
      --vocab;
    }
  }
  fill_rows(dice, kind, vocab, chain ? vocab : 1, task);
  if (verifier.promise == Promise::lossless_at_zero) take_argmax(task.target);
  return task;
}

Json prove_all(std::uint32_t instances, std::uint64_t seed, const Control& control) {
  const auto& verifiers = surveyed_verifiers();
  std::vector<std::vector<Finding>> findings(verifiers.size(), std::vector<Finding>(instances));
  std::atomic<bool> stopped{false};
  for_each_index(verifiers.size() * instances, [&](std::size_t index) {
    if (stopped || control.stop()) {
      stopped = true;
      return;
    }
    const std::size_t which = index / instances;
    const auto number = static_cast<std::uint32_t>(index % instances);
    findings[which][number] = look(verifiers[which], survey_instance(verifiers[which], seed, number));
    control.progress(1);
  });

  Json out{{"instances", instances}, {"seed", seed}, {"arithmetic", "rational"}, {"partial", stopped.load()}};
  bool kept = !stopped;
  Json& rows = out["verifiers"] = Json::array();
  for (std::size_t i = 0; i < verifiers.size() && !stopped; ++i) {
    rows.push_back(summary(verifiers[i], seed, findings[i]));
    kept = kept && rows.back().at("kept").get<bool>();
  }
  out["kept"] = kept;
  return out;
}

std::string survey_text(const Json& survey) {
  std::string out = fmt::format("{:<34}{:>14}  {:<10}{:>12}{:>10}{:>12}\n", "verifier", "lossless",
                                "worst TV", "acceptance", "optimum", "branches");
  std::string bounds;
  std::string refuted;
  for (const Json& row : survey.at("verifiers")) {
    const auto label = row.at("verifier").get<std::string>();
    const int instances = row.at("instances").get<int>();
    out += fmt::format("{:<34}{:>6} of {:<5}  {:<10.4g}{:>12.4f}{:>10.4f}{:>12}{}\n", label,
                       row.at("lossless").get<int>(), instances, as_double(row.at("worst_tv")),
                       row.at("mean_acceptance").get<double>(), row.at("mean_optimum").get<double>(),
                       row.at("branches").get<std::uint64_t>(), remark(row));
    if (row.contains("within_p_over_l")) {
      bounds += fmt::format("{:<34}{:>6} of {}\n", label, row.at("within_p_over_l").get<int>(), instances);
    }
    if (row.contains("counterexample")) {
      const Json& counter = row.at("counterexample");
      refuted += fmt::format("{}:\n  {}\n  tokens {}: P = {} instead of {}\n", label,
                             counter.at("command").get<std::string>(), counter.at("tokens").dump(),
                             short_fraction(counter.at("law")), short_fraction(counter.at("target_law")));
    }
  }
  out += "\nFirst token at most p/l:\n" + bounds;
  return out + "\nWhere each lossy verifier is furthest from the target:\n" + refuted;
}

}  // namespace speclab
