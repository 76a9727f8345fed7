#include <fmt/format.h>

#include <cstdint>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/run/record_pair.hpp"
#include "experiments/run/terminal_watch.hpp"

namespace speclab {

namespace {

int record_main(const Values& values) {
  const auto file = values.text("config");
  const auto out = values.text("out");
  const ThreadLimit limit(thread_option(values));
  const auto config = load_config(file, values);
  RecordingOrder order{.file = out, .with_entropy = values.has("entropy")};
  constexpr std::int64_t most = 10'000'000;
  if (values.has("sequences"))
    order.sequences = static_cast<std::uint32_t>(ranged_option<std::int64_t>(values, "sequences", 1, most));
  if (values.has("tokens"))
    order.tokens = static_cast<std::size_t>(ranged_option<std::int64_t>(values, "tokens", 1, most));
  constexpr std::int64_t max_of_a_row = 1024;
  if (values.has("top-k"))
    order.top_rows = static_cast<std::int32_t>(ranged_option<std::int64_t>(values, "top-k", 1, max_of_a_row));
  const RecordedTokens recorded = in_file(file, [&] {
    TerminalWatch watch("record", false);
    return record_config(*config, order, [&](std::uint64_t steps) { return watch.control(steps); });
  });
  if (recorded.partial) return interrupted_exit("nothing was written");
  fmt::print("{}: {} tokens, {} sequences\n", out, recorded.tokens.size(),
             recorded.recording.sequences.size());
  return exit_ok;
}

}  // namespace

Verb record_verb() {
  Verb verb{
      .name = "record",
      .sentence =
          "write a text that the config's target generates, with its log-probabilities under target and draft",
      .line = "speclab record CONFIG.json --out FILE [options]",
      .about =
          R"(Records the config's pair. The target decodes token by token, and each token is written with its natural
log-probabilities under target and draft, as sequence,position,token,logp,logq. It writes one sequence
for each of the simulation's trials. speclab plan recording and models of kind "recorded" read it.
Sampling options of the config hold for both models; its rule, gamma and costs do not matter.)",
      .examples = R"(  speclab record configs/austen_words.json --out austen.csv
  speclab record configs/austen_words.json --out austen.jsonl --sequences 200 --tokens 500
  speclab record configs/austen_words.json --out rows.jsonl --sequences 8 --tokens 8 --top-k 8
)",
      .positional = "config",
      .run = record_main};
  add_config_options(verb);
  verb.add_value("out FILE", po::value<std::string>()->required(),
                 "file to write: .csv, .jsonl, or .safetensors with whole rows");
  verb.add<std::int64_t>("sequences", "number of sequences (default: the simulation's trials)");
  verb.add<std::int64_t>("tokens", "tokens of each sequence (default: the simulation's length)");
  verb.add("entropy", "also write the entropy of the target's rows, which makes checks of the text sharper");
  verb.add<std::int64_t>(
      "top-k",
      "also write this many of the largest probabilities of both rows (.jsonl only), for speclab prove --recording");
  return verb;
}

}  // namespace speclab
