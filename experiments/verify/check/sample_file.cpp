#include "experiments/verify/check/equality_test.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/npy.hpp"

namespace speclab {

namespace {

/// Collects and checks the first tokens of each sequence.
struct Samples {
  std::size_t length;
  std::int64_t vocab;
  std::vector<Token> tokens = {};
  StopCounter now_and_then = StopCounter(1 << 8);

  void add(std::int64_t token, const std::string& where) {
    now_and_then.step();
    if (token < 0 || token >= vocab)
      throw UsageError("{}: token {} is not in [0, {}), the target's vocabulary", where, token, vocab);
    tokens.push_back(static_cast<Token>(token));
  }
  void require_length(std::size_t found, const std::string& where) const {
    if (found >= length) return;
    throw UsageError("{}: {} tokens; the test needs the first {} of every sequence (/check/tokens)", where,
                     found, length);
  }
};

void read_json_line(const TextLine& line, Samples& samples) {
  const Json json = json_line(line.text, line.where);
  const Json* tokens = &json;
  if (json.is_object()) {
    const auto found = json.find("tokens");
    tokens = found != json.end() ? &*found : nullptr;
  }
  if (tokens == nullptr || !tokens->is_array()) {
    throw UsageError("{}: not a list of token ids, such as [4, 0, 2] or {{\"tokens\": [4, 0, 2]}}",
                     line.where);
  }
  samples.require_length(tokens->size(), line.where);
  for (std::size_t i = 0; i < samples.length; ++i) {
    const Json& token = (*tokens)[i];
    if (!token.is_number_integer())
      throw UsageError("{}: {} is not a token id", line.where, token.dump().substr(0, 40));
    samples.add(token.get<std::int64_t>(), line.where);
  }
}

void read_array(const NpyArray& array, const std::string& name, Samples& samples) {
  if (array.kind == 'f' || array.shape.size() != 2 || array.shape[1] == 0)
    throw std::runtime_error("it is an array of another form");
  const std::size_t columns = array.shape[1];
  samples.require_length(columns, name);
  for (std::size_t row = 0; row < array.shape[0]; ++row) {
    const std::string where = fmt::format("{}: row {}", name, row);
    for (std::size_t i = 0; i < samples.length; ++i) samples.add(array.integer(row * columns + i), where);
  }
}

NpyArray only_array(const std::string& npz) {
  const NpzArchive archive(npz);
  if (archive.names().size() != 1) throw std::runtime_error("it is not an archive of one array");
  return archive.array(archive.names().front());
}

std::vector<Token> samples_in(const std::filesystem::path& file, std::size_t length, std::int32_t vocab) {
  Samples samples{length, vocab};
  const std::string text = read_text(file);
  const bool npz = file.extension() == ".npz";
  if (npz || file.extension() == ".npy") {
    try {
      read_array(npz ? only_array(text) : parse_npy(text), file.string(), samples);
    } catch (const UsageError&) {
      throw;
    } catch (const std::runtime_error& error) {
      throw UsageError("{}: {}; save one two-dimensional array of integers by numpy.save{}", file.string(),
                       error.what(), npz ? "z" : "");
    }
  } else {
    for (const TextLine& line : lines_of(text, file.string())) read_json_line(line, samples);
  }
  if (samples.tokens.empty()) throw UsageError("{}: no sequences", file.string());
  return std::move(samples.tokens);
}

}  // namespace

std::vector<Token> read_samples(const std::filesystem::path& file, std::size_t length, std::int32_t vocab) {
  return read_in_memory(file.string(), [&] { return samples_in(file, length, vocab); });
}

}  // namespace speclab
