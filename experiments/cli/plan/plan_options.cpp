#include "experiments/cli/plan/plan_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "experiments/advisor/plan_figures.hpp"
#include "experiments/cli/finding_page.hpp"
#include "experiments/cli/plan/plan_way.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/support/csv_reader.hpp"
#include "sim/serving/draft_device.hpp"

namespace speclab {

namespace po = boost::program_options;

namespace {

Interval around(double alpha, double standard_error, double confidence) {
  if (standard_error == 0) return {alpha, alpha, alpha};
  const boost::math::normal_distribution<double> normal;
  const double width =
      standard_error * boost::math::quantile(boost::math::complement(normal, (1 - confidence) / 2));
  return {alpha, std::max(alpha - width, 0.0), std::min(alpha + width, 1.0)};
}

}  // namespace

void add_batch_option(Verb& verb) {
  verb.options.add_options()("batch", po::value<double>()->default_value(1, "1"),
                             "sequences decoded together");
}

void add_max_gamma_option(Verb& verb, int otherwise) {
  verb.options.add_options()("max-gamma",
                             po::value<double>()->default_value(otherwise, std::to_string(otherwise)),
                             "largest gamma considered");
}

void add_server_options(Verb& verb) {
  add_batch_option(verb);
  auto add = verb.options.add_options();
  add("context", po::value<double>()->default_value(1024, "1024"), "tokens before the new ones");
  add("memory-share", po::value<double>()->default_value(0.9, "0.9"), "of the device's memory, usable");
  add("method", po::value<std::string>(),
      "what drafts: draft (a model, the default), ngram (copied from the text), eagle, eagle3, mtp (the "
      "target's own modules), medusa or dflash (both in one run a round)");
}

void add_choice_options(Verb& verb) {
  auto add = verb.options.add_options();
  add("gamma", po::value<double>(), "a gamma to compare with the best");
  add_max_gamma_option(verb, PlanSettings().max_gamma);
  add("max-batch", po::value<double>()->default_value(512, "512"), "largest batch considered");
}

void add_answer_options(Verb& verb) {
  auto add = verb.options.add_options();
  add("confidence", po::value<double>()->default_value(0.95, "0.95"), "of intervals");
  add("json", "print JSON");
  add_page_option(verb);
}

PlanSettings plan_settings(const Values& values) {
  PlanSettings settings;
  const auto set = [&](auto& setting, const char* name, double least, double most) {
    if (!values.has(name)) return;
    const double value = checked_number(values, name, least, most);
    if constexpr (std::is_integral_v<std::decay_t<decltype(setting)>>) {
      if (value != std::floor(value))
        throw UsageError(fmt::format("--{} {}: expected an integer", name, value));
    }
    setting = static_cast<std::decay_t<decltype(setting)>>(value);
  };
  set(settings.at.batch, "batch", 1, 1e6);
  set(settings.at.context, "context", 0, 1e8);
  set(settings.max_gamma, "max-gamma", 1, 1000);
  set(settings.max_batch, "max-batch", 1, 10000);
  set(settings.memory_share, "memory-share", 0.01, 1);
  if (values.has("gamma")) set(settings.asked_gamma.emplace(), "gamma", 0, settings.max_gamma);
  settings.confidence = values["confidence"].as<double>();
  if (!(settings.confidence > 0 && settings.confidence < 1)) {
    throw UsageError(fmt::format("--confidence {}: expected a number between 0 and 1", settings.confidence));
  }
  if (values.has("device")) settings.target = target_repository(values);
  return settings;
}

Acceptance given_acceptance(double alpha, double standard_error, double confidence,
                            const std::string& where) {
  if (!(alpha >= 0 && alpha <= 1)) {
    throw UsageError(fmt::format("{}: alpha = {}; expected a number from 0 to 1", where, alpha));
  }
  return {around(alpha, standard_error, confidence), "given"};
}

std::vector<double> rank_shares_of(const std::string& text, const std::string& where) {
  std::vector<double> shares;
  for (const std::string& word : split(text, ',')) {
    const auto share = number_in(word);
    if (!share || !(*share >= 0 && *share <= 1))
      throw UsageError(fmt::format("{} {}: \"{}\"; expected shares such as 0.6,0.2,0.1", where, text, word));
    shares.push_back(*share);
  }
  constexpr std::size_t most = 64;
  if (shares.size() > most)
    throw UsageError(fmt::format("{}: {} shares; at most {}", where, shares.size(), most));
  if (const auto problem = rank_share_problem(shares))
    throw UsageError(fmt::format("{} {}: {}", where, text, problem->why));
  return shares;
}

PlanAnswer answer_of_drafter(const Drafter& drafter, const PlanSettings& settings) {
  const DrafterPlan plan = make_plan(drafter, settings);
  PlanAnswer answer = answer_of(plan, plan_text, plan_headline, plan_figures);
  answer.warnings = plan.warnings;
  answer.unfit = plan.fits_reason;
  return answer;
}

}  // namespace speclab
