// Reads answer files of Spec-Bench, which EAGLE, Medusa and others use with Hugging Face models:
// accept_lengths has the emitted tokens of each step. EAGLE's own answers have only new_tokens and the index
// of the last step (idxs) of each turn.
#include <nlohmann/json.hpp>

#include "serving/advisor/json_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr const char* lengths_key = "accept_lengths";
constexpr const char* steps_key = "idxs";
constexpr std::string_view trees_unsaid = "do not say whether drafts were trees, for which there is no α, or";

ModelLogs read_spec_bench(const LogSource& source) {
  ModelLogs logs;
  const std::uint64_t gamma = drafted_option(source, fmt::format("accept_lengths {}", trees_unsaid));
  for (const auto& [place, model, usage] : records_with(source, {lengths_key}, "model_id")) {
    const JsonPlace list = place.at(lengths_key);
    const std::vector<std::uint64_t> lengths = counts_in(list);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] == 0) list.at(i).refuse("1 or more: a step emits a token more than it accepts");
      logs[model].add_round(list.at(i).where, gamma, lengths[i] - 1);
    }
  }
  return logs;
}

ModelLogs read_eagle_answers(const LogSource& source) {
  struct Turn {
    std::string where;
    std::string model;
    std::uint64_t steps;
    std::uint64_t emitted;
  };
  std::vector<Turn> turns;
  Turn all{};
  for (const JsonRecord& record : records_with(source, {steps_key}, "model_id")) {
    const std::vector<std::uint64_t> last_steps = counts_in(record.place.at(steps_key));
    const JsonPlace list = record.place.at("new_tokens");
    const std::vector<std::uint64_t> emitted = counts_in(list);
    if (emitted.size() != last_steps.size())
      list.refuse(fmt::format("{} numbers, as in {}", last_steps.size(), steps_key));
    for (std::size_t i = 0; i < emitted.size(); ++i) {
      const std::uint64_t steps = last_steps[i] + 1;
      if (emitted[i] < steps) list.at(i).refuse(fmt::format("{} or more, one a step", steps));
      turns.push_back({list.at(i).where, record.model, steps, emitted[i]});
      all.steps += steps;
      all.emitted += emitted[i];
    }
  }
  const std::uint64_t gamma = drafted_option(
      source, fmt::format("{} tokens emitted in {} steps are {:.4g} a run of the target; EAGLE's answers {}",
                          all.emitted, all.steps,
                          static_cast<double>(all.emitted) / static_cast<double>(all.steps), trees_unsaid));
  ModelLogs logs;
  for (const Turn& turn : turns)
    logs[turn.model].add_sums(turn.where, turn.steps, turn.steps * gamma, turn.emitted - turn.steps);
  return logs;
}

}  // namespace

LogFormat spec_bench_log_format() {
  return {"spec_bench",
          "Hugging Face",
          "Answers of Spec-Bench, one per line, from assisted decoding, EAGLE and others; needs --drafted.",
          "{\"question_id\": 81, \"model_id\": \"m\", \"choices\": [{\"index\": 0, \"new_tokens\": [9], "
          "\"accept_lengths\": [3, 1, 4, 1]}]}\n",
          "https://github.com/hemingkx/Spec-Bench",
          [](const LogSource& source) { return has_record_with(source, {lengths_key}); },
          read_spec_bench};
}

LogFormat eagle_answers_log_format() {
  return {"eagle_answers",
          "EAGLE",
          "Answers of EAGLE's gen_ea_answer scripts, one per line; needs --drafted, if it drafted chains.",
          "{\"question_id\": 81, \"model_id\": \"m\", \"choices\": [{\"index\": 0, \"turns\": [\"\"], "
          "\"idxs\": [9], \"new_tokens\": [31], \"wall_time\": [0.8]}]}\n",
          "https://github.com/SafeAILab/EAGLE",
          [](const LogSource& source) { return has_record_with(source, {steps_key}); },
          read_eagle_answers};
}

}  // namespace speclab
