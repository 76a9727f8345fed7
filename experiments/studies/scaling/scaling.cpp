// The experiment "scaling": the sigmoid approximation of softmax with other constants and number formats
// (Wagner et al. 2024, Tables 2 and 7). Its numbers are means over rows, each enumerated completely.
#include <cmath>
#include <vector>

#include "analysis/theory/scaled_sigmoid.hpp"
#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/npy.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/setup.hpp"
#include "sim/sequences.hpp"

namespace speclab {

namespace {

struct ScalingSection {
  double scale = 1000;
  SigmoidFormat format = SigmoidFormat::f32;
  std::string logits;
};

/// Logits of target and draft in several contexts. Those of a model's row are the logarithms of its
/// probabilities, one of the choices that softmax cannot tell apart.
struct LogitRows {
  std::vector<std::vector<double>> target, draft;
};

std::vector<std::vector<double>> rows_of_array(const NpzArchive& archive, const std::string& name) {
  const NpyArray array = archive.array(name);
  if (array.shape.size() != 2 || array.size() == 0)
    throw std::runtime_error("array \"" + name + "\" is not of shape [contexts, vocabulary]");
  std::vector<std::vector<double>> rows(array.shape[0]);
  for (std::size_t i = 0; i < array.size(); ++i) {
    const double logit = array.number(i);
    if (std::isnan(logit) || logit == INFINITY)
      throw std::runtime_error("array \"" + name + "\" has a logit that is neither finite nor -inf");
    rows[i / array.shape[1]].push_back(logit);
  }
  return rows;
}

LogitRows rows_of_file(const std::string& file) {
  const std::string bytes = in_file(file, [&] { return read_text(file); });
  try {
    const NpzArchive archive(bytes);
    LogitRows rows{rows_of_array(archive, "target"), rows_of_array(archive, "draft")};
    if (rows.target.size() != rows.draft.size() || rows.target.front().size() != rows.draft.front().size())
      throw std::runtime_error("arrays \"target\" and \"draft\" differ in shape");
    return rows;
  } catch (const std::runtime_error& error) {
    throw ConfigError("/scaling/logits",
                      "{}: {}; expected an .npz archive of two arrays of logits, \"target\" and "
                      "\"draft\", as numpy.savez writes it",
                      file, error.what());
  }
}

/// Returns the rows in every context of texts that the target generates; one row if there is one context.
LogitRows rows_of_models(const Setup& setup) {
  LogitRows rows;
  const auto logits = [](const Row& row) {
    std::vector<double> all;
    for (Token id = 0; id < row.size; ++id) all.push_back(std::log(row[id]));
    return all;
  };
  std::vector<double> scratch;
  const auto add = [&](std::span<const Token> context) {
    rows.target.push_back(logits(setup.target.next(context, scratch)));
    rows.draft.push_back(logits(setup.draft.next(context, scratch)));
  };
  if (setup.target.context_free() && setup.draft.context_free()) {
    add({});
    return rows;
  }
  const std::size_t length = setup.simulation.length;
  const std::vector<Token> texts =
      plain_sequences(setup.target, setup.rule.sampled, setup.simulation, length);
  if (texts.empty()) throw Stopped{};
  std::vector<Token> context;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i % length == 0) context = setup.simulation.prompt(static_cast<std::uint32_t>(i / length));
    add(context);
    context.push_back(texts[i]);
  }
  return rows;
}

ByMetric<double> measured(const LogitRows& rows, const ScalingSection& section) {
  ScaledSigmoid sum;
  double valid = 0, greedy = 0;
  for (std::size_t i = 0; i < rows.target.size(); ++i) {
    const ScaledSigmoid one = scaled_sigmoid(rows.target[i], rows.draft[i], section.scale, section.format);
    if (!one.valid) continue;
    ++valid;
    sum.acceptance += one.acceptance;
    sum.tv_to_target += one.tv_to_target;
    sum.tv_to_draft += one.tv_to_draft;
    sum.cross_entropy += one.cross_entropy;
    greedy += one.greedy ? 1 : 0;
  }
  // Sums over a vocabulary are exact to about 1e-12; distances of that size are 0.
  const auto distance = [&](double total) { return total < 1e-11 * valid ? 0 : total / valid; };
  ByMetric<double> numbers;
  if (valid > 0) {
    numbers = {{Metric::first_token_acceptance, sum.acceptance / valid},
               {Metric::tv_to_target, distance(sum.tv_to_target)},
               {Metric::tv_to_draft, distance(sum.tv_to_draft)},
               {Metric::perplexity, std::exp(sum.cross_entropy / valid)},
               {Metric::greedy_agreement, greedy / valid}};
  }
  numbers.emplace_back(Metric::invalid_rows, 1 - valid / static_cast<double>(rows.target.size()));
  return numbers;
}

void check_scaling(const Config& cell) {
  const auto& section = cell.section<ScalingSection>();
  if (section.logits.empty() && !cell.models)
    throw ConfigError("/scaling/logits", "missing; give a file of logits, or \"models\"");
  if (!section.logits.empty() && cell.models)
    throw ConfigError("/scaling/logits", "\"{}\" beside \"models\": rows are of one or the other; remove one",
                      section.logits);
  if (cell.models) check_setup(cell);
}

Work prepare_scaling(const CellSpec& cell, JobList& jobs) {
  const auto& section = cell.config.section<ScalingSection>();
  const std::shared_ptr<const Setup> setup = cell.config.models ? jobs.setup(cell.config) : nullptr;
  const auto finish = [&section, setup](CellResult& result, const RunContext&) {
    result.formula = measured(setup ? rows_of_models(*setup) : rows_of_file(section.logits), section);
  };
  return {.finish = finish, .own_steps = 0};
}

}  // namespace

SectionKind scaling_section() {
  using S = ScalingSection;
  return {"scaling",
          object<S>("scaling", "The sigmoid of the experiment scaling.",
                    {field("scale", &S::scale, number_above(0, 1e30), "β; α is its negative."),
                     field("format", &S::format,
                           choice<SigmoidFormat>({{"softmax", SigmoidFormat::softmax},
                                                  {"f64", SigmoidFormat::f64},
                                                  {"f32", SigmoidFormat::f32},
                                                  {"bf16", SigmoidFormat::bf16},
                                                  {"f16", SigmoidFormat::f16}}),
                           "The number format of the computation; \"softmax\" is Algorithm 1."),
                     field("logits", &S::logits, input_file(),
                           "Instead of \"models\": an .npz archive of arrays \"target\" and \"draft\" of "
                           "shape [contexts, vocabulary].")})
              .type};
}

const Experiment& scaling_experiment() {
  using enum Metric;
  static const Experiment experiment{
      .name = "scaling",
      .sentence =
          "The sigmoid approximation of softmax by scale of the logits and number format, enumerated.",
      .sections = {"scaling"},
      .reads = {"models", "metrics", "figures", "measured_note"},
      .reads_with_models = {"corpus", "sampling", "simulation/trials", "simulation/length",
                            "simulation/prompt", "simulation/prompt_tokens"},
      .check = check_scaling,
      .prepare = prepare_scaling,
      .presentation = presented({.metrics = {.shown = {first_token_acceptance, tv_to_target, tv_to_draft,
                                                       perplexity, greedy_agreement, invalid_rows},
                                             .figure = tv_to_target},
                                 .outcome = "enumerated here"})};
  return experiment;
}

}  // namespace speclab
