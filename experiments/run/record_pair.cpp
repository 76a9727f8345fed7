#include "experiments/run/record_pair.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>

#include "core/rules/token.hpp"
#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/top_rows.hpp"
#include "experiments/run/until.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/parallel.hpp"
#include "sim/sequences.hpp"

namespace speclab {

namespace {

double entropy_of(Row row) {
  double entropy = 0;
  for (Token id = 0; id < row.size; ++id) {
    if (row[id] > 0) entropy -= row[id] * std::log(row[id]);
  }
  return entropy;
}

/// Returns a number as JSON, which has no infinities.
std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string("\"-inf\"");
}

}  // namespace

void drop_axes_of_decoding(Config& config) {
  if (!config.sweep) return;
  std::erase_if(*config.sweep, [](const auto& axis) {
    return axis.first == "/gamma" || axis.first.starts_with("/cost") || axis.first.starts_with("/rule");
  });
  if (config.sweep->empty()) config.sweep.reset();
}

RecordingStyle recording_style(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension == ".csv") return RecordingStyle::csv;
  if (extension == ".jsonl") return RecordingStyle::json_lines;
  if (extension == ".safetensors") return RecordingStyle::rows;
  throw UsageError("{}: expected a name that ends in .csv, .jsonl or .safetensors", file);
}

RecordedTokens record_config(Config config, const RecordingOrder& order,
                             const std::function<Control(std::uint64_t)>& control_for) {
  const RecordingStyle style = recording_style(order.file);
  if (style == RecordingStyle::rows && order.with_entropy)
    throw UsageError("{}: rows have their entropies in them; leave entropy out", order.file);
  if (order.top_rows > 0 && style != RecordingStyle::json_lines)
    throw UsageError("{}: largest probabilities of rows are written to .jsonl files", order.file);
  if (order.sequences) config.simulation.trials = *order.sequences;
  const std::size_t length = order.tokens.value_or(config.simulation.length);
  config.rule = Config().rule;
  drop_axes_of_decoding(config);
  refuse_many_cells(config, "record writes");
  refuse_until(config, "record writes a fixed number of sequences");
  constexpr double bytes_a_token = 4 * sizeof(double);
  const double tokens = static_cast<double>(length) * config.simulation.trials;
  require_memory(bytes_a_token * tokens, "/simulation", fmt::format("{} tokens", tokens));
  const Setup setup = build_setup(config);
  RecordedTokens recorded = record_pair(setup, length, control_for(config.simulation.trials));
  if (recorded.partial) return recorded;
  if (order.top_rows > 0) {
    write_top_rows(setup, recorded, order.file, order.top_rows);
  } else if (style == RecordingStyle::rows) {
    write_row_recording(setup, recorded, order.file);
  } else {
    write_recording(recorded, order.file, style, order.with_entropy);
  }
  return recorded;
}

RecordedTokens record_pair(const Setup& setup, std::size_t length, const Control& control) {
  if (setup.argmax_target) {
    throw ConfigError("/rule/kind", "a recording shows the target's own distribution; leave the rule out");
  }
  const AnyRule token_rule{TokenRule{}};
  RecordedTokens recorded;
  recorded.tokens = plain_sequences(setup.target, token_rule, setup.simulation, length, control);
  if (recorded.tokens.empty()) {
    recorded.partial = true;
    return recorded;
  }
  const std::size_t trials = setup.simulation.trials;
  Recording& recording = recorded.recording;
  recording.target.resize(recorded.tokens.size());
  recording.draft.assign(1, std::vector<double>(recorded.tokens.size()));
  recording.entropy.resize(recorded.tokens.size());
  for (std::size_t trial = 0; trial < trials; ++trial)
    recording.sequences.push_back({std::to_string(trial), "", trial * length, length});
  for_each_index(trials, [&](std::size_t trial) {
    std::vector<Token> context = setup.simulation.prompt(static_cast<std::uint32_t>(trial));
    std::vector<double> scratch;
    for (std::size_t i = trial * length; i < (trial + 1) * length; ++i) {
      end_if_stopped();
      const Token token = recorded.tokens[i];
      const Row target = setup.target.next(context, scratch);
      recording.target[i] = std::min(0.0, std::log(target[token]));
      recording.entropy[i] = entropy_of(target);
      recording.draft[0][i] = std::min(0.0, std::log(setup.draft.next(context, scratch)[token]));
      context.push_back(token);
    }
  });
  return recorded;
}

void write_recording(const RecordedTokens& recorded, const std::filesystem::path& file, RecordingStyle style,
                     bool with_entropy) {
  const Recording& recording = recorded.recording;
  write_file_atomically(file, [&](const std::function<void(std::string_view)>& out) {
    if (style == RecordingStyle::csv) {
      out(with_entropy ? "sequence,position,token,logp,logq,entropy\n"
                       : "sequence,position,token,logp,logq\n");
    }
    std::string lines;
    constexpr std::size_t enough = 1 << 16;
    for (const RecordedSequence& sequence : recording.sequences) {
      for (std::size_t i = 0; i < sequence.count; ++i) {
        const std::size_t at = sequence.first + i;
        const double logp = recording.target[at];
        const double logq = recording.draft[0][at];
        const auto end = std::back_inserter(lines);
        if (style == RecordingStyle::csv) {
          fmt::format_to(end, "{},{},{},{},{}", sequence.name, i, recorded.tokens[at], logp, logq);
          if (with_entropy) fmt::format_to(end, ",{}", recording.entropy[at]);
          lines += '\n';
        } else {
          fmt::format_to(end, R"({{"sequence": {}, "position": {}, "token": {}, "logp": {}, "logq": {})",
                         sequence.name, i, recorded.tokens[at], json_number(logp), json_number(logq));
          if (with_entropy) fmt::format_to(end, R"(, "entropy": {})", recording.entropy[at]);
          lines += "}\n";
        }
        if (lines.size() > enough) {
          out(lines);
          lines.clear();
        }
      }
    }
    out(lines);
  });
}

void write_row_recording(const Setup& setup, const RecordedTokens& recorded,
                         const std::filesystem::path& file) {
  const std::size_t tokens = recorded.tokens.size();
  const auto vocab = static_cast<std::size_t>(setup.target.vocab());
  const std::size_t rows = tokens * vocab * sizeof(float);
  const std::size_t ids = tokens * sizeof(std::int64_t);
  const std::string header =
      fmt::format(R"({{"target":{{"dtype":"F32","shape":[{0},{1}],"data_offsets":[0,{2}]}},)"
                  R"("draft":{{"dtype":"F32","shape":[{0},{1}],"data_offsets":[{2},{3}]}},)"
                  R"("tokens":{{"dtype":"I64","shape":[{0}],"data_offsets":[{3},{4}]}},)"
                  R"("sequence":{{"dtype":"I64","shape":[{0}],"data_offsets":[{4},{5}]}}}})",
                  tokens, vocab, rows, 2 * rows, 2 * rows + ids, 2 * rows + 2 * ids);
  write_file_atomically(file, [&](const std::function<void(std::string_view)>& out) {
    const auto put = [&](const auto& numbers) {
      out({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(numbers[0])});
    };
    put(std::array<std::uint64_t, 1>{header.size()});
    out(header);
    std::vector<double> scratch;
    std::vector<float> row(vocab);
    for (const Model* model : {&setup.target, &setup.draft}) {
      std::uint32_t trial = 0;
      for (const RecordedSequence& sequence : recorded.recording.sequences) {
        std::vector<Token> context = setup.simulation.prompt(trial++);
        for (std::size_t i = sequence.first; i < sequence.first + sequence.count; ++i) {
          const Row here = model->next(context, scratch);
          for (std::size_t id = 0; id < vocab; ++id)
            row[id] = static_cast<float>(here[static_cast<Token>(id)]);
          put(row);
          context.push_back(recorded.tokens[i]);
        }
      }
    }
    put(std::vector<std::int64_t>(recorded.tokens.begin(), recorded.tokens.end()));
    std::vector<std::int64_t> numbers;
    std::int64_t number = 0;
    for (const RecordedSequence& sequence : recorded.recording.sequences)
      numbers.insert(numbers.end(), sequence.count, number++);
    put(numbers);
  });
}

}  // namespace speclab
