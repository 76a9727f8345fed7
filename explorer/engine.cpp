// The functions that the explorer's page calls. They are plain C functions of numbers and of bytes that the
// page wrote into `input`; the page reads results from the record. Each returns 1, or 0 for an error; the
// record's only text, "error", then has the message.
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/engine/live_recording.hpp"
#include "explorer/engine/live_text.hpp"
#include "explorer/engine/many_rounds.hpp"
#include "explorer/engine/on_a_device.hpp"
#include "explorer/engine/one_round.hpp"
#include "explorer/engine/your_data.hpp"
#include "sim/parallel.hpp"

namespace speclab::explorer {
namespace {

Record result;
std::vector<std::byte> input;
CountedRounds counted_rounds;
LengthCounts iid_counts;
StretchRounds stretch_rounds;
std::optional<TextModels> text_models;

template <class Work>
int guarded(const Work& work) {
  result.clear();
  try {
    work();
    return 1;
  } catch (const ConfigError& error) {
    result.clear();
    result.text("error", error.sentence());
    return 0;
  } catch (const std::exception& error) {
    result.clear();
    result.text("error", error.what());
    return 0;
  }
}

std::uint64_t seed_of(double seed) { return static_cast<std::uint64_t>(seed); }

/// Splits the input into its texts, which follow one another.
class InputParts {
 public:
  std::string operator()(std::int32_t bytes) {
    at_ += bytes;
    return std::string(at_ - bytes, static_cast<std::size_t>(bytes));
  }

  /// Reads a file of this many bytes and its name, and adds it to the dropped files. Returns the name, empty
  /// if none is given.
  std::string file(std::int32_t bytes, std::int32_t name_length) {
    std::string contents = (*this)(bytes);
    std::string name = (*this)(name_length);
    if (!name.empty()) explorer::dropped_files()[name] = std::move(contents);
    return name;
  }

 private:
  const char* at_ = reinterpret_cast<const char*>(input.data());
};

/// Reads 2 * vocab weights, target then draft, and then the rule's name.
RoundTask round_task(std::int32_t vocab, std::int32_t name_length, double parameter, std::int32_t gamma) {
  const auto* weights = reinterpret_cast<const std::int32_t*>(input.data());
  const auto size = static_cast<std::size_t>(vocab);
  const auto* name = reinterpret_cast<const char*>(weights + 2 * size);
  return {{name, static_cast<std::size_t>(name_length)},
          parameter,
          gamma,
          {weights, size},
          {weights + size, size}};
}

}  // namespace

// The page knows each function by this name.
#define EXPORT(name) extern "C" __attribute__((export_name(#name), used))

EXPORT(reserve_input) void* export_reserve_input(std::int32_t bytes) {
  input.resize(static_cast<std::size_t>(bytes));
  return input.data();
}
EXPORT(names_data) const char* export_names_data() { return result.names().data(); }
EXPORT(names_size) std::int32_t export_names_size() {
  return static_cast<std::int32_t>(result.names().size());
}
EXPORT(numbers_data) const double* export_numbers_data() { return result.numbers().data(); }
EXPORT(text_data) const char* export_text_data() { return result.text().data(); }

EXPORT(list_rules) int export_list_rules() {
  return guarded([] {
    const auto& rules = offered_rules();
    result.texts("names", rules, &OfferedRule::name);
    result.texts("parameters", rules, &OfferedRule::parameter);
    result.texts("kinds", rules, &OfferedRule::kind);
    result.texts("fixed", rules, &OfferedRule::fixed);
    result.texts("verdicts", rules, &OfferedRule::verdict);
    result.list("whole", rules, &OfferedRule::whole);
    result.list("values", rules, &OfferedRule::value);
    result.list("least", rules, &OfferedRule::least);
    result.list("most", rules, &OfferedRule::most);
  });
}

/// Words of random numbers, as pairs of 32 bits, low first.
EXPORT(philox)
int export_philox(double seed, std::int32_t trial, std::int32_t round, std::int32_t use, std::int32_t slot) {
  return guarded([&] {
    Philox stream(seed_of(seed), {static_cast<std::uint32_t>(trial),
                                  static_cast<std::uint32_t>(round),
                                  {static_cast<Use>(use), static_cast<std::uint16_t>(slot)}});
    std::vector<double> halves;
    for (int word = 0; word < 4; ++word) {
      const std::uint64_t bits = stream();
      halves.push_back(static_cast<double>(bits & 0xffffffffU));
      halves.push_back(static_cast<double>(bits >> 32U));
    }
    result.list("halves", halves);
  });
}

EXPORT(rows) int export_rows(std::int32_t vocab, std::int32_t name, double parameter, std::int32_t gamma) {
  return guarded([&] { describe_rows(round_task(vocab, name, parameter, gamma), result); });
}
EXPORT(prove) int export_prove(std::int32_t vocab, std::int32_t name, double parameter, std::int32_t gamma) {
  return guarded([&] { prove_round(round_task(vocab, name, parameter, gamma), result); });
}
EXPORT(draws)
int export_draws(std::int32_t vocab, std::int32_t name, double parameter, std::int32_t gamma, double seed,
                 std::int32_t round) {
  return guarded([&] {
    draw_round(round_task(vocab, name, parameter, gamma), seed_of(seed), static_cast<std::uint32_t>(round),
               result);
  });
}
/// Functions that run rounds continue the earlier counts, unless `anew`.
EXPORT(rounds)
int export_rounds(std::int32_t vocab, std::int32_t name, double parameter, std::int32_t gamma, double seed,
                  std::int32_t anew, std::int32_t count) {
  return guarded([&] {
    if (anew != 0) counted_rounds = {};
    count_rounds(round_task(vocab, name, parameter, gamma), seed_of(seed), static_cast<std::uint32_t>(count),
                 counted_rounds, result);
  });
}

/// gamma < 0: the best gamma.
EXPORT(predict) int export_predict(double alpha, double c, double c_hat, std::int32_t gamma) {
  return guarded(
      [&] { predict(alpha, c, c_hat, gamma < 0 ? std::nullopt : std::optional<int>(gamma), result); });
}
EXPORT(curves) int export_curves(double alpha, double c, double c_hat, std::int32_t most) {
  return guarded([&] { curves(alpha, c, c_hat, most, result); });
}
EXPORT(best_by_alpha) int export_best_by_alpha(double c) {
  return guarded([&] { best_by_alpha(c, result); });
}
EXPORT(iid_distribution) int export_iid_distribution(double alpha, std::int32_t gamma) {
  return guarded([&] { iid_distribution(alpha, gamma, result); });
}
EXPORT(iid_rounds)
int export_iid_rounds(double alpha, std::int32_t gamma, double seed, std::int32_t length, std::int32_t anew,
                      std::int32_t count) {
  return guarded([&] {
    if (anew != 0) iid_counts = {};
    iid_rounds(alpha, gamma, seed_of(seed), static_cast<std::uint32_t>(length),
               static_cast<std::uint64_t>(count), iid_counts, result);
  });
}
EXPORT(stretches) int export_stretches(double easy, double hard, double stay, std::int32_t gamma) {
  return guarded([&] { exact_stretches({easy, hard, stay}, gamma, result); });
}
EXPORT(stretch_rounds)
int export_stretch_rounds(double easy, double hard, double stay, std::int32_t gamma, double seed,
                          std::int32_t length, std::int32_t anew, std::int32_t count) {
  return guarded([&] {
    if (anew != 0) stretch_rounds = {};
    play_stretches({easy, hard, stay}, gamma, seed_of(seed), static_cast<std::uint32_t>(length),
                   static_cast<std::uint32_t>(count), stretch_rounds, result);
  });
}

EXPORT(list_presets)
int export_list_presets() {
  return guarded([] { list_presets(result); });
}
/// Input: the names of device, target and draft.
EXPORT(plan_on_device)
int export_plan_on_device(std::int32_t device, std::int32_t target, std::int32_t draft, double alpha,
                          std::int32_t devices, double batch, double context) {
  return guarded([&] {
    InputParts part;
    const std::string names[] = {part(device), part(target), part(draft)};
    plan_on_device({alpha, names[0], names[1], names[2], devices, batch, context}, result);
  });
}

/// Input: the text that models are trained on.
EXPORT(load_text)
int export_load_text(std::int32_t size) {
  return guarded([&] {
    text_models.emplace(
        std::string_view(reinterpret_cast<const char*>(input.data()), static_cast<std::size_t>(size)));
  });
}
/// Input: the prompt.
EXPORT(decode_text)
int export_decode_text(std::int32_t size, std::int32_t target_order, std::int32_t draft_order,
                       std::int32_t gamma, std::int32_t tokens, double c, double seed) {
  return guarded([&] {
    if (!text_models) throw std::logic_error("no text was loaded");
    const std::string_view prompt(reinterpret_cast<const char*>(input.data()),
                                  static_cast<std::size_t>(size));
    decode_text({target_order, draft_order, gamma, tokens, c, seed_of(seed), prompt}, *text_models, result);
  });
}

/// Input: a recording's bytes, its name, and the drafter's column.
EXPORT(decode_recording)
int export_decode_recording(std::int32_t text, std::int32_t name, std::int32_t column, std::int32_t sequence,
                            std::int32_t gamma, std::int32_t tokens, double c, double seed) {
  return guarded([&] {
    InputParts part;
    dropped_files().clear();
    const std::string file = part.file(text, name);
    const std::string drafter = part(column);
    LiveTask task;
    task.gamma = gamma;
    task.tokens = tokens;
    task.c = c;
    task.seed = seed_of(seed);
    decode_recording(task, file, drafter, static_cast<std::size_t>(sequence), result);
  });
}

/// Input: a file's bytes and its name. `has_draft`: a second file was dropped with it.
EXPORT(names_in_file)
int export_names_in_file(std::int32_t text, std::int32_t name, std::int32_t has_draft) {
  return guarded([&] {
    InputParts part;
    dropped_files().clear();
    const std::string file = part.file(text, name);
    input = {};
    names_in_file(file, has_draft != 0, result);
  });
}
/// Input: a file's bytes and its name; a second file's bytes and name, or nothing; and the model's name.
EXPORT(plan_from_file)
int export_plan_from_file(std::int32_t text, std::int32_t name, std::int32_t draft, std::int32_t draft_name,
                          std::int32_t model, std::int32_t cell, double c) {
  return guarded([&] {
    InputParts part;
    dropped_files().clear();
    const std::string file = part.file(text, name);
    const std::string draft_file = part.file(draft, draft_name);
    const std::string model_name = part(model);
    input = {};
    plan_from_file(file, draft_file, model_name, static_cast<std::size_t>(cell), c, result);
  });
}

}  // namespace speclab::explorer

namespace speclab {
// A page has one thread (sim/parallel.hpp), and the amount of memory is unknown
// (experiments/base/support/machine.hpp).
int concurrency() { return 1; }
void run_indices(std::size_t count, bool (*call)(const void* body, std::size_t index), const void* body) {
  for (std::size_t i = 0; i < count && call(body, i); ++i) {
  }
}
void run_isolated(void (*call)(const void* body), const void* body) { call(body); }
std::optional<double> available_memory() { return std::nullopt; }

// Files are those that the user dropped on the page (experiments/base/support/mapped_file.hpp).
MappedFile::MappedFile(const std::filesystem::path& file) {
  const auto found = explorer::dropped_files().find(file.string());
  if (found == explorer::dropped_files().end()) throw std::runtime_error("was not given to the page");
  begin_ = found->second.data();
  size_ = found->second.size();
}
MappedFile::~MappedFile() = default;

// All formats of recordings except npz, whose archives need a library.
RecordingFormat csv_format();
RecordingFormat json_lines_format();
RecordingFormat openai_completions_format();
RecordingFormat openai_chat_format();
RecordingFormat openai_responses_format();
RecordingFormat vllm_format();
RecordingFormat llama_server_format();
RecordingFormat ollama_format();
RecordingFormat tgi_format();
RecordingFormat sglang_format();
RecordingFormat safetensors_format();
RecordingFormat kl_base_format();
std::vector<RecordingFormat>& recording_formats() {
  static std::vector<RecordingFormat> all{
      csv_format(),          json_lines_format(),       openai_completions_format(),
      openai_chat_format(),  openai_responses_format(), vllm_format(),
      llama_server_format(), ollama_format(),           tgi_format(),
      sglang_format(),       safetensors_format(),      kl_base_format()};
  return all;
}
}  // namespace speclab
