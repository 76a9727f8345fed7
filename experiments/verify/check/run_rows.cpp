#include "experiments/verify/check/run_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "core/distribution/divergence.hpp"
#include "core/rules/token.hpp"
#include "experiments/catalog/models/gguf.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/result_fields.hpp"
#include "experiments/page/cells.hpp"
#include "experiments/page/table.hpp"
#include "experiments/run/config.hpp"
#include "experiments/run/model_file.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/support/machine.hpp"
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

struct NamedShape {
  std::string name;
  TextRuns shape;
};

/// Which shapes are compared: indices of a list of shapes.
struct ComparedShapes {
  std::vector<NamedShape> shapes;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  ///< of rows, and of what they are compared with
  std::size_t first_moved = 0;                             ///< pairs from here on must have the same bits
};

ComparedShapes compared_shapes(const std::vector<std::int32_t>& sizes) {
  ComparedShapes all;
  all.shapes = {{"runs of 1", {}}};
  for (const std::int32_t size : sizes) {
    all.pairs.emplace_back(all.shapes.size(), 0);
    all.shapes.push_back({fmt::format("runs of {}", size), {.tokens = size}});
  }
  const std::size_t plain = all.shapes.size();
  all.pairs.emplace_back(plain, 0);
  all.shapes.push_back({"prompt at once, then 1", {.tokens = 1, .prompt_at_once = true}});
  for (const std::int32_t size : sizes) {
    all.pairs.emplace_back(all.shapes.size(), plain);
    all.shapes.push_back(
        {fmt::format("prompt at once, then {}", size), {.tokens = size, .prompt_at_once = true}});
  }
  all.first_moved = all.pairs.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    all.pairs.emplace_back(all.shapes.size(), i + 1);
    all.shapes.push_back(
        {fmt::format("runs of {}, other places", sizes[i]), {.tokens = sizes[i], .ahead = 1}});
  }
  return all;
}

/// Of one text.
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
  // Texts are independent; contexts of one are not, since what differs stays in the cache.
  sum.flipped_texts = binomial_interval(flipped, texts.size(), confidence).value_or(unbounded(0));
  return sum;
}

/// Texts and their prompts, one for each trial.
struct WrittenTexts {
  std::vector<std::vector<Token>> texts;  ///< with their prompts
  std::vector<std::size_t> prompts;       ///< tokens of these
};

/// Empty when the control stopped it.
WrittenTexts write_texts(const Model& target, const SimulationSize& simulation) {
  const AnyRule token_rule{TokenRule{}};
  const std::vector<Token> tokens = plain_sequences(target, token_rule, simulation, simulation.length);
  WrittenTexts written;
  for (std::uint32_t trial = 0; trial < simulation.trials; ++trial) {
    std::vector<Token> text = simulation.prompt(trial);
    written.prompts.push_back(text.size());
    const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(std::size_t{trial} * simulation.length);
    text.insert(text.end(), begin, begin + simulation.length);
    written.texts.push_back(std::move(text));
  }
  return written;
}

/// The model as every run of one token computes it: the same bits always.
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
      throw ConfigError("/simulation/prompt", "is empty; runs are compared after a prompt, so give one");
    }
  }
  const RunShapes model(gguf_tokenizer(parameters.file, "/models/target/file", factory));
  const WrittenTexts written = write_texts(target.model, simulation);
  const ComparedShapes compared = compared_shapes(sizes);
  std::vector<std::vector<TextDifference>> found(compared.pairs.size(),
                                                 std::vector<TextDifference>(written.texts.size()));
  std::atomic<bool> stopped = false;
  for_each_index(written.texts.size(), [&](std::size_t at) {
    std::vector<LogitRows> rows;
    for (const NamedShape& one : compared.shapes) {
      if (control.stop()) stopped = true;
      if (stopped) return false;
      rows.push_back(model.logits(written.texts[at], written.prompts[at], one.shape));
    }
    for (std::size_t pair = 0; pair < compared.pairs.size(); ++pair) {
      const auto [here, there] = compared.pairs[pair];
      found[pair][at] = text_difference(rows[here], rows[there]);
    }
    control.progress(1);
    return true;
  });
  if (stopped) return std::nullopt;

  RunRowsReport report{.file = parameters.file,
                       .machine = machine_description(),
                       .texts = written.texts.size(),
                       .tokens = simulation.length,
                       .temperature = config.sampling.temperature,
                       .confidence = config.confidence,
                       .differences = {}};
  for (std::size_t pair = 0; pair < compared.pairs.size(); ++pair) {
    RowDifference one = summed(found[pair], config.confidence);
    one.rows = compared.shapes[compared.pairs[pair].first].name;
    one.than = compared.shapes[compared.pairs[pair].second].name;
    if (pair >= compared.first_moved) report.moved += one.differ;
    report.differences.push_back(std::move(one));
  }
  return report;
}

std::string run_rows_text(const RunRowsReport& report) {
  constexpr double thousand = 1000;
  constexpr double percent = 100;
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
