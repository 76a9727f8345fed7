#include "serving/advisor/sampling_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "analysis/exact/direct_stationary.hpp"
#include "analysis/recorded/expected_rounds.hpp"
#include "core/rules/token.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/config/cells.hpp"
#include "experiments/config/config.hpp"
#include "experiments/recording/recording_file.hpp"
#include "experiments/run/record_pair.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/run/top_rows.hpp"
#include "experiments/run/until.hpp"
#include "sim/parallel.hpp"
#include "sim/sequences.hpp"

namespace speclab {

namespace {

constexpr double max_texts = 4e6;
constexpr double max_bytes = 8e9;

/// Sequences of tokens, one after the other.
struct Text {
  std::vector<Token> tokens;
  std::vector<std::size_t> ends;  ///< ends of sequences
};

/// Adjusts each row, [vocab], of `rows`.
void adjust_rows(std::vector<double>& rows, std::size_t vocab, const Adjustment& how) {
  std::vector<Token> order;
  for (std::size_t at = 0; at < rows.size(); at += vocab)
    adjust(std::span(rows).subspan(at, vocab), how, order);
}

double log_or_none(double probability) { return std::min(0.0, std::log(probability)); }

/// Returns the log-probability columns of one sequence. `match` accepts a drafted token with probability q,
/// whatever p is. Since q = min(1, p q / p), its draft column is p q.
Recording columns(const Text& text, std::size_t first, std::size_t last, std::span<const double> target,
                  std::span<const double> draft, std::size_t vocab, TextRule rule) {
  Recording made;
  made.draft.resize(1);
  made.sequences.push_back({"", "", 0, last - first});
  for (std::size_t i = first; i < last; ++i) {
    const std::size_t at = i * vocab + static_cast<std::size_t>(text.tokens[i]);
    const double p = log_or_none(target[at]);
    made.target.push_back(p);
    made.draft[0].push_back(log_or_none(draft[at]) + (rule == TextRule::match ? p : 0));
  }
  return made;
}

/// Sets rows.tokens for contexts of a text drawn from the target: tokens over number of rounds, of rounds
/// that the end of the text does not cut short. Sequences are independent.
void add_tokens(SampledRows& rows, const std::shared_ptr<const Text>& text) {
  rows.tokens = [text, target = rows.target, vocab = rows.vocab](TextRule rule, std::span<const double> draft,
                                                                 int gamma, double confidence) {
    const RecordedRule recorded = rule == TextRule::block ? RecordedRule::block : RecordedRule::token;
    const std::vector<std::size_t>& ends = text->ends;
    std::vector<double> tokens(ends.size());
    std::vector<double> rounds(ends.size());
    for_each_index(ends.size(), [&](std::size_t i) {
      const Recording one = columns(*text, i == 0 ? 0 : ends[i - 1], ends[i], target, draft, vocab, rule);
      const GammaRounds found =
          expected_rounds(one, sequence_stretches(one), static_cast<std::size_t>(gamma), recorded).back();
      tokens[i] = found.whole_tokens;
      rounds[i] = found.whole_rounds;
    });
    return ratio_interval(tokens, rounds, confidence);
  };
}

// --- exactly ---

struct Contexts {
  TextChain chain;
  std::vector<double> target;  // [contexts, vocab]
  std::vector<double> draft;
};

/// Returns all contexts (last `memory` tokens) that can follow the prompts; empty if there are too many.
std::optional<Contexts> contexts_of(const Model& target, const Model& draft, std::size_t memory,
                                    const std::vector<std::vector<Token>>& prompts, double most) {
  Contexts found;
  found.chain.vocab = target.vocab();
  std::vector<std::vector<Token>> known;
  std::map<std::vector<Token>, std::int32_t> index;
  const auto number = [&](std::vector<Token> context) {
    if (context.size() > memory) context.erase(context.begin(), context.end() - static_cast<long>(memory));
    const auto [place, added] = index.try_emplace(context, static_cast<std::int32_t>(known.size()));
    if (added) known.push_back(std::move(context));
    return place->second;
  };
  std::vector<std::int32_t> begins;
  begins.reserve(prompts.size());
  for (const std::vector<Token>& prompt : prompts) begins.push_back(number(prompt));
  std::vector<double> scratch;
  for (std::size_t x = 0; x < known.size(); ++x) {
    if (static_cast<double>(known.size()) > most) return std::nullopt;
    const Row row = target.next(known[x], scratch);
    const std::vector<double> normal(row.probabilities, row.probabilities + row.size);
    found.target.insert(found.target.end(), normal.begin(), normal.end());
    for (Token token = 0; token < target.vocab(); ++token) {
      std::vector<Token> longer = known[x];
      longer.push_back(token);
      // A token that is never drawn may lead to any context.
      found.chain.successor.push_back(normal[static_cast<std::size_t>(token)] > 0 ? number(std::move(longer))
                                                                                  : 0);
    }
    const Row drafted = draft.next(known[x], scratch);
    found.draft.insert(found.draft.end(), drafted.probabilities, drafted.probabilities + drafted.size);
  }
  found.chain.start.assign(known.size(), 0);
  for (const std::int32_t begin : begins) {
    found.chain.start[static_cast<std::size_t>(begin)] += 1 / static_cast<double>(begins.size());
  }
  return found;
}

SamplingSource exact_source(Contexts contexts) {
  const auto known = std::make_shared<const Contexts>(std::move(contexts));
  const auto at = [known](const Adjustment& how, const Control&) -> std::optional<SampledRows> {
    const auto vocab = static_cast<std::size_t>(known->chain.vocab);
    SampledRows rows;
    rows.vocab = vocab;
    rows.target = known->target;
    rows.draft = known->draft;
    adjust_rows(rows.target, vocab, how);
    rows.share = text_shares(known->chain, rows.target);
    rows.tokens = [known, target = rows.target](TextRule rule, std::span<const double> draft, int gamma,
                                                double) -> std::optional<Interval> {
      const double tokens = tokens_per_round(known->chain, target, draft, rule, gamma);
      return Interval{tokens, tokens, tokens};
    };
    return rows;
  };
  const std::size_t count = known->chain.contexts();
  return {fmt::format("{} context{}, exactly", count, count == 1 ? "" : "s"), true, at};
}

// --- drawn ---

SamplingSource drawn_source(const Model& target, const Model& draft, SimulationSize simulation,
                            const TextSize& size) {
  const auto vocab = static_cast<std::size_t>(target.vocab());
  const std::size_t contexts = size.sequences * size.tokens;
  // Counts both models' rows, and the draft's as sampled.
  const double bytes = 3.0 * sizeof(double) * static_cast<double>(contexts) * static_cast<double>(vocab);
  if (bytes > max_bytes) {
    throw UsageError(
        "{} sequences of {} tokens over {} ids: rows of {:.3g} GB; at most {:g}: give fewer --sequences or --tokens",
        size.sequences, size.tokens, vocab, bytes / 1e9, max_bytes / 1e9);
  }
  simulation.trials = size.sequences;
  SamplingSource source;
  source.what = fmt::format("texts of {} tokens, {} sequences, drawn from the target at each setting",
                            contexts, size.sequences);
  source.rows = [=, length = size.tokens](const Adjustment& how,
                                          const Control& control) -> std::optional<SampledRows> {
    const Model sampled = adjusted(target, how);
    const AnyRule plain{TokenRule{}};
    auto text = std::make_shared<Text>();
    text->tokens = plain_sequences(sampled, plain, simulation, length, control);
    if (text->tokens.empty()) return std::nullopt;
    SampledRows rows;
    rows.vocab = vocab;
    rows.target.resize(contexts * vocab);
    rows.draft.resize(contexts * vocab);
    rows.share.assign(contexts, 1 / static_cast<double>(contexts));
    for (std::size_t end = length; end <= contexts; end += length) text->ends.push_back(end);
    rows.sequence = text->ends;
    for_each_index(simulation.trials, [&](std::size_t trial) {
      std::vector<Token> context = simulation.prompt(static_cast<std::uint32_t>(trial));
      std::vector<double> scratch;
      const auto copy = [&](const Model& model, std::vector<double>& into, std::size_t i) {
        const Row row = model.next(context, scratch);
        std::copy_n(row.probabilities, vocab, into.begin() + static_cast<std::ptrdiff_t>(i * vocab));
      };
      for (std::size_t i = trial * length; i < (trial + 1) * length; ++i) {
        if (control.stop()) return false;
        copy(sampled, rows.target, i);
        copy(draft, rows.draft, i);
        context.push_back(text->tokens[i]);
      }
      return true;
    });
    if (control.stop()) return std::nullopt;
    add_tokens(rows, text);
    return rows;
  };
  return source;
}

// --- recorded ---

/// Returns rows over the union of both models' recorded tokens, padded with zeros to the longest.
SampledRows rows_of(const std::vector<TopRows>& recorded) {
  SampledRows rows;
  std::vector<std::map<std::int64_t, std::size_t>> places(recorded.size());
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    for (const TopRow* row : {&recorded[i].target, &recorded[i].draft}) {
      for (const std::int64_t id : row->ids) places[i].try_emplace(id, places[i].size());
    }
    rows.vocab = std::max(rows.vocab, places[i].size());
  }
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const auto add = [&](const TopRow& row, std::vector<double>& into) {
      std::vector<double> made(rows.vocab, 0);
      for (std::size_t k = 0; k < row.ids.size(); ++k) made[places[i].at(row.ids[k])] = std::exp(row.logp[k]);
      normalise(std::span<double>(made));
      into.insert(into.end(), made.begin(), made.end());
    };
    add(recorded[i].target, rows.target);
    add(recorded[i].draft, rows.draft);
  }
  return rows;
}

/// Returns a source whose rounds are known at `text_temperature` without filters, as the text was drawn.
SamplingSource recorded_source(SampledRows rows, std::shared_ptr<const Text> text, double text_temperature,
                               const std::string& what) {
  rows.share.assign(rows.target.size() / rows.vocab,
                    static_cast<double>(rows.vocab) / static_cast<double>(rows.target.size()));
  const auto known = std::make_shared<const SampledRows>(std::move(rows));
  const auto at = [known, text, text_temperature](const Adjustment& how,
                                                  const Control&) -> std::optional<SampledRows> {
    SampledRows made = *known;
    adjust_rows(made.target, made.vocab, how);
    if (text && how.temperature == text_temperature && how.top_k == 0 && how.top_p == 1) {
      for (std::size_t i = 0; i < text->tokens.size(); ++i) {
        if (made.target[i * made.vocab + static_cast<std::size_t>(text->tokens[i])] > 0) continue;
        throw UsageError(
            "--text-temperature {:g}: token {} of the text has probability 0 at it: the text was not drawn so",
            text_temperature, i);
      }
      add_tokens(made, text);
    }
    return made;
  };
  return {.what = what, .rows = at};
}

std::vector<std::size_t> ends_of(const std::vector<RecordedSequence>& sequences) {
  std::vector<std::size_t> ends;
  ends.reserve(sequences.size());
  for (const RecordedSequence& one : sequences) ends.push_back(one.first + one.count);
  return ends;
}

}  // namespace

SamplingSource sampling_source(const Model& target, const Model& draft, const SimulationSize& simulation,
                               const TextSize& size, int gamma) {
  const std::optional<int> first = target.memory();
  const std::optional<int> second = draft.memory();
  if (first && second) {
    const double most =
        std::min<double>(max_direct_states, max_texts / text_rounds_cost(1, target.vocab(), gamma));
    if (auto contexts = contexts_of(target, draft, static_cast<std::size_t>(std::max(*first, *second)),
                                    simulation.prompts, most)) {
      return exact_source(*std::move(contexts));
    }
  }
  return drawn_source(target, draft, simulation, size);
}

SamplingSource sampling_source(const Config& config, const TextSize& size, int gamma) {
  Config sized = config;
  drop_axes_of_decoding(sized);
  refuse_many_cells(sized, "plan sampling examines");
  refuse_until(sized, "plan sampling draws a fixed number of texts");
  ModelFactory factory;
  const auto refuse_own = [&](const char* path, const Adjustment& sampling) {
    if (sampling.identity()) return;
    throw ConfigError(path,
                      "plan sampling varies sampling options itself; leave them out, with --set if need be");
  };
  refuse_own("/sampling", config.sampling);
  if (config.models) {
    refuse_own("/models/target", sampling_of(config.models->target, config.sampling));
    refuse_own("/models/draft", sampling_of(config.models->draft, config.sampling));
  }
  sized.rule = Config().rule;
  sized.simulation.trials = size.sequences;
  const Setup setup = build_setup(sized, factory);
  return sampling_source(setup.target, setup.draft, setup.simulation, size, gamma);
}

SamplingSource sampling_source_of_recording(const std::string& file, const std::string& draft,
                                            double text_temperature) {
  SampledRows rows;
  if (const std::optional<RowFile> whole = read_row_file(file, draft)) {
    const double bytes = 4.0 * sizeof(double) * static_cast<double>(whole->tokens.size()) *
                         static_cast<double>(whole->target.vocab);
    if (bytes > max_bytes) {
      throw UsageError("{}: its rows take {:.3g} GB in memory; at most {:g}: give a part of it", file,
                       bytes / 1e9, max_bytes / 1e9);
    }
    rows.vocab = whole->target.vocab;
    rows.target = probabilities_of(whole->target);
    rows.draft = probabilities_of(*whole->draft);
    rows.sequence = ends_of(whole->sequences);
    auto text = std::make_shared<Text>();
    for (const std::int64_t token : whole->tokens) text->tokens.push_back(static_cast<Token>(token));
    text->ends = rows.sequence;
    const std::size_t tokens = text->tokens.size();
    return recorded_source(std::move(rows), whole->drawn ? text : nullptr, text_temperature,
                           fmt::format("{} recorded contexts, {} ids", tokens, whole->target.vocab));
  }
  if (!draft.empty()) throw UsageError("{}: holds no rows; plan sampling needs rows of both models", file);
  const Recording recording = read_recording(file).recording;
  const std::vector<TopRows> top = read_top_rows(file);
  rows = rows_of(top);
  rows.sequence = ends_of(recording.sequences);
  return recorded_source(
      std::move(rows), nullptr, text_temperature,
      fmt::format("{} recorded contexts, each over the tokens recorded for either row", top.size()));
}

}  // namespace speclab
