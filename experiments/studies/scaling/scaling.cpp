// The experiment "scaling": the sigmoid approximation of softmax with other constants and number formats
// (Wagner et al. 2024, Tables 2 and 7). Its numbers are means over rows, each enumerated completely.
#include <cmath>
#include <cstdint>
#include <span>
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

/// Adds up the numbers of one row after another, so that no row is kept.
class RowSums {
 public:
  explicit RowSums(const ScalingSection& section) : section_(section) {}

  void add(std::span<const double> target, std::span<const double> draft) {
    end_if_stopped();
    ++rows_;
    const ScaledSigmoid one = scaled_sigmoid(target, draft, section_.scale, section_.format);
    if (!one.valid) return;
    ++valid_;
    sum_.acceptance += one.acceptance;
    sum_.tv_to_target += one.tv_to_target;
    sum_.tv_to_draft += one.tv_to_draft;
    sum_.cross_entropy += one.cross_entropy;
    greedy_ += one.greedy ? 1 : 0;
  }

  ByMetric<double> means() const {
    // Sums over a vocabulary are exact to about 1e-12; distances of that size are 0.
    const auto distance = [&](double total) { return total < 1e-11 * valid_ ? 0 : total / valid_; };
    ByMetric<double> numbers;
    if (valid_ > 0) {
      numbers = {{Metric::first_token_acceptance, sum_.acceptance / valid_},
                 {Metric::tv_to_target, distance(sum_.tv_to_target)},
                 {Metric::tv_to_draft, distance(sum_.tv_to_draft)},
                 {Metric::perplexity, std::exp(sum_.cross_entropy / valid_)},
                 {Metric::greedy_agreement, greedy_ / valid_}};
    }
    numbers.emplace_back(Metric::invalid_rows, 1 - valid_ / rows_);
    return numbers;
  }

 private:
  const ScalingSection& section_;
  ScaledSigmoid sum_;
  double rows_ = 0, valid_ = 0, greedy_ = 0;
};

/// Returns an array of logits, [contexts, vocabulary], by contexts.
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

void add_file(const std::string& file, RowSums& sums) {
  const std::string bytes = in_file(file, [&] { return read_text(file); });
  try {
    const NpzArchive archive(bytes);
    const auto target = rows_of_array(archive, "target");
    const auto draft = rows_of_array(archive, "draft");
    if (target.size() != draft.size() || target.front().size() != draft.front().size())
      throw std::runtime_error("arrays \"target\" and \"draft\" differ in shape");
    for (std::size_t i = 0; i < target.size(); ++i) sums.add(target[i], draft[i]);
  } catch (const std::runtime_error& error) {
    throw ConfigError("/scaling/logits",
                      "{}: {}; expected an .npz archive of two arrays of logits, \"target\" and "
                      "\"draft\", as numpy.savez writes it",
                      file, error.what());
  }
}

/// Returns whether one context stands for all.
bool has_one_context(const Setup& setup) { return setup.target.context_free() && setup.draft.context_free(); }

/// Adds the rows in every context of texts that the target generates; one row if there is one context. The
/// logits are the logarithms of probabilities, one of the choices that softmax cannot tell apart.
void add_models(const Setup& setup, const Control& control, RowSums& sums) {
  std::vector<double> scratch, target, draft;
  const auto logits = [&](const Model& model, std::span<const Token> context, std::vector<double>& all) {
    const Row row = model.next(context, scratch);
    all.clear();
    for (Token id = 0; id < row.size; ++id) all.push_back(std::log(row[id]));
  };
  const auto add = [&](std::span<const Token> context) {
    logits(setup.target, context, target);
    logits(setup.draft, context, draft);
    sums.add(target, draft);
  };
  if (has_one_context(setup)) return add({});
  const std::size_t length = setup.simulation.length;
  const Control by_sequence{.stop = control.stop, .progress = [&](std::uint64_t sequences) {
                              control.progress(sequences * length);
                            }};
  const std::vector<Token> texts =
      plain_sequences(setup.target, setup.rule.sampled, setup.simulation, length, by_sequence);
  if (texts.empty()) throw Stopped{};
  std::vector<Token> context;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i % length == 0) context = setup.simulation.prompt(static_cast<std::uint32_t>(i / length));
    add(context);
    context.push_back(texts[i]);
  }
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
  const auto finish = [&section, setup](CellResult& result, const RunContext& context) {
    RowSums sums(section);
    if (setup) {
      add_models(*setup, context.control, sums);
    } else {
      add_file(section.logits, sums);
    }
    result.formula = sums.means();
  };
  const bool simulates = setup && !has_one_context(*setup);
  return {.finish = finish,
          .own_steps = simulates ? std::uint64_t{setup->simulation.trials} * setup->simulation.length : 0};
}

}  // namespace

SectionKind scaling_section() {
  using S = ScalingSection;
  return {
      "scaling",
      object<S>(
          "scaling", "The sigmoid of the experiment scaling.",
          {field("scale", &S::scale, number_above(0, 1e30),
                 "β of Wagner et al. 2024, section 3.2.2; α is -β."),
           field(
               "format", &S::format,
               choice<SigmoidFormat>({{"softmax", SigmoidFormat::softmax},
                                      {"f64", SigmoidFormat::f64},
                                      {"f32", SigmoidFormat::f32},
                                      {"bf16", SigmoidFormat::bf16},
                                      {"f16", SigmoidFormat::f16}}),
               "The number format of the computation; \"softmax\" computes the exact rule instead (Leviathan et al. 2023, Algorithm 1)."),
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
          "Acceptance and total variation of the sigmoid approximation of softmax, computed exactly for each scale and number format.",
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
