#include "experiments/verify/check/run_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "core/distribution/divergence.hpp"
#include "core/rules/token.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/catalog/models/gguf.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/model_file.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/setup.hpp"
#include "sim/models/logits.hpp"
#include "sim/models/run_shapes.hpp"
#include "sim/parallel.hpp"
#include "sim/sequences.hpp"

namespace speclab {

SPECLAB_RESULT(RowDifference, "row difference", rows, than, count, differ, mean_variation, high_variation,
               most_variation, most_logit, flips, flipped_texts);
SPECLAB_RESULT(RunRowsReport, "run rows", file, machine, texts, tokens, temperature, confidence, differences,
               moved);

namespace {

/// A way to compute the rows of a text.
struct ComparedShape {
  std::string name;
  TextRuns shape;
  std::size_t than = 0;    ///< index of the shape with which it is compared; the first shape's own
  bool same_bits = false;  ///< the option "batch" promises the same bits
};

std::vector<ComparedShape> compared_shapes(const std::vector<std::int32_t>& sizes) {
  std::vector<ComparedShape> all{{"runs of 1", {}}};
  for (const std::int32_t size : sizes) all.push_back({fmt::format("runs of {}", size), {.tokens = size}});
  const std::size_t plain = all.size();
  all.push_back({"prompt at once, then 1", {.prompt_at_once = true}});
  for (const std::int32_t size : sizes) {
    all.push_back(
        {fmt::format("prompt at once, then {}", size), {.tokens = size, .prompt_at_once = true}, plain});
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    all.push_back(
        {fmt::format("runs of {}, other places", sizes[i]), {.tokens = sizes[i], .ahead = 1}, i + 1, true});
  }
  return all;
}

/// The differences of one text.
struct TextDifference {
  std::vector<double> variations;
  std::uint64_t differ = 0;
  double most_logit = 0;
  std::uint64_t flips = 0;
};

TextDifference text_difference(const LogitRows& rows, const LogitRows& others) {
  TextDifference found;
  std::vector<double> row(rows.front().size());
  std::vector<double> other(row.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<float>& here = rows[i];
    const std::vector<float>& there = others[i];
    if (here == there) {
      found.variations.push_back(0);
      continue;
    }
    ++found.differ;
    for (std::size_t id = 0; id < here.size(); ++id) {
      found.most_logit = std::max(found.most_logit, std::abs(double{here[id]} - double{there[id]}));
    }
    const auto size = static_cast<std::int32_t>(here.size());
    if (argmax(BasicRow<float>{here.data(), size}) != argmax(BasicRow<float>{there.data(), size}))
      ++found.flips;
    softmax_of_logits(here, 1, row);
    softmax_of_logits(there, 1, other);
    found.variations.push_back(total_variation(Row{row.data(), size}, Row{other.data(), size}));
  }
  return found;
}

RowDifference summed(const std::vector<TextDifference>& texts, double confidence) {
  RowDifference sum;
  std::vector<double> variations;
  std::uint64_t flipped = 0;
  for (const TextDifference& text : texts) {
    variations.insert(variations.end(), text.variations.begin(), text.variations.end());
    sum.differ += text.differ;
    sum.most_logit = std::max(sum.most_logit, text.most_logit);
    sum.flips += text.flips;
    flipped += text.flips > 0 ? 1 : 0;
  }
  std::sort(variations.begin(), variations.end());
  sum.count = variations.size();
  sum.mean_variation =
      std::accumulate(variations.begin(), variations.end(), 0.0) / static_cast<double>(sum.count);
  sum.high_variation = variations[sum.count - 1 - sum.count / 100];
  sum.most_variation = variations.back();
  // Texts are independent; contexts of one text are not, since a difference stays in the cache.
  sum.flipped_texts = binomial_interval(flipped, texts.size(), confidence).value_or(unbounded(0));
  return sum;
}

/// Writes a text for each trial, after its prompt. Returns nothing if `control` stopped it.
std::vector<std::vector<Token>> write_texts(const Model& target, const SimulationSize& simulation,
                                            const Control& control) {
  const AnyRule token_rule{TokenRule{}};
  const std::vector<Token> tokens =
      plain_sequences(target, token_rule, simulation, simulation.length, {.stop = control.stop});
  std::vector<std::vector<Token>> texts;
  for (auto next = tokens.begin(); next != tokens.end(); next += simulation.length) {
    texts.push_back(simulation.prompt(static_cast<std::uint32_t>(texts.size())));
    texts.back().insert(texts.back().end(), next, next + simulation.length);
  }
  return texts;
}

/// Returns parameters with which every run has one token, which always gives the same bits.
GgufParameters one_token_runs(const Config& config) {
  if (!config.models) throw ConfigError("/models", "missing; a config with a target is needed");
  const GgufParameters* own = gguf_parameters(config.models->target);
  if (own == nullptr) {
    throw ConfigError("/models/target/kind", "check rows compares runs of a neural model; give \"gguf\"");
  }
  GgufParameters parameters = *own;
  parameters.batch = 1;
  parameters.kept_rows = 0;
  return parameters;
}

}  // namespace

std::optional<RunRowsReport> compare_run_rows(const Config& config, const std::vector<std::int32_t>& sizes,
                                              const Control& control) {
  Config plain = config;
  const GgufParameters parameters = one_token_runs(config);
  plain.models->target.parameters = std::make_shared<GgufParameters>(parameters);
  ModelFactory factory;
  const BuiltModel target = model_of_config(plain, false, factory);
  SimulationSize simulation = simulation_size(plain);
  simulation.prompts = build_prompts(plain, factory, target.vocabulary.get(), target.model.vocab());
  for (const auto& prompt : simulation.prompts) {
    if (prompt.empty()) {
      throw ConfigError("/simulation/prompt", "is empty; check rows needs a prompt");
    }
  }
  const RunShapes model(gguf_tokenizer(parameters.file, "/models/target/file", factory));
  const std::vector<std::vector<Token>> texts = write_texts(target.model, simulation, control);
  if (texts.empty()) return std::nullopt;
  const std::vector<ComparedShape> shapes = compared_shapes(sizes);
  std::vector<std::vector<TextDifference>> found(shapes.size(), std::vector<TextDifference>(texts.size()));
  std::atomic<bool> stopped = false;
  for_each_index(texts.size(), [&](std::size_t at) {
    const std::size_t prompt = simulation.prompt(static_cast<std::uint32_t>(at)).size();
    std::vector<LogitRows> rows;
    for (const ComparedShape& one : shapes) {
      if (control.stop()) stopped = true;
      if (stopped) return false;
      rows.push_back(model.logits(texts[at], prompt, one.shape));
    }
    for (std::size_t i = 1; i < shapes.size(); ++i) {
      found[i][at] = text_difference(rows[i], rows[shapes[i].than]);
    }
    control.progress(1);
    return true;
  });
  if (stopped) return std::nullopt;

  RunRowsReport report{.file = parameters.file,
                       .machine = machine_description(),
                       .texts = texts.size(),
                       .tokens = simulation.length,
                       .temperature = config.sampling.temperature,
                       .confidence = config.confidence,
                       .differences = {}};
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    RowDifference& one = report.differences.emplace_back(summed(found[i], config.confidence));
    one.rows = shapes[i].name;
    one.than = shapes[shapes[i].than].name;
    if (shapes[i].same_bits) report.moved += one.differ;
  }
  return report;
}

std::string run_rows_text(const RunRowsReport& report) {
  constexpr double thousand = 1000, percent = 100;
  Table table{"rows",
              fmt::format("{}, {}: {} texts of {} tokens at temperature {:g}", report.file, report.machine,
                          report.texts, report.tokens, report.temperature),
              {"rows", "than with", "other bits", "mean TV", "TV of 1% above", "largest TV",
               "largest logit difference", "argmax changed, of 1,000", "texts with such, %"},
              {},
              "TV: total variation between the two rows of a context, at temperature 1. Where the argmax of "
              "a context changes, greedy "
              "decoding writes another token and from there on another text."};
  for (const RowDifference& one : report.differences) {
    const double share = thousand * static_cast<double>(one.flips) / static_cast<double>(one.count);
    const Interval& texts = one.flipped_texts;
    table.rows.push_back(
        {text_cell(one.rows), text_cell(one.than), text_cell(fmt::format("{} of {}", one.differ, one.count)),
         number_cell(one.mean_variation), number_cell(one.high_variation), number_cell(one.most_variation),
         number_cell(one.most_logit), number_cell(share),
         interval_cell(Interval{percent * texts.estimate, percent * texts.low, percent * texts.high})});
  }
  return terminal(table) +
         (report.moved == 0
              ? "Rows of runs of a fixed shape do not depend on the place of a token in its run.\n"
              : fmt::format("Rows of runs of a fixed shape depend on the place of a token in its "
                            "run in {} cases: with such a \"batch\" results are not exact.\n",
                            report.moved));
}

}  // namespace speclab
