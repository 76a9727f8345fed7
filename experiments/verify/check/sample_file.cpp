#include "experiments/verify/check/sample_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "core/stop.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/json_io.hpp"
#include "experiments/support/csv_reader.hpp"
#include "experiments/support/npy.hpp"

namespace speclab {

namespace {

/// Adds tokens one by one, checked.
class Samples {
 public:
  Samples(std::size_t length, std::int32_t vocab) : length_(length), vocab_(vocab) {}

  void add(std::int64_t token, const std::string& where) {
    now_and_then_.step();
    if (token < 0 || token >= vocab_) {
      throw UsageError(
          fmt::format("{}: token {} is not in [0, {}), the target's vocabulary", where, token, vocab_));
    }
    tokens_.push_back(static_cast<Token>(token));
  }
  void require_length(std::size_t found, const std::string& where) const {
    if (found < length_) {
      throw UsageError(
          fmt::format("{}: {} tokens; the test needs the first {} of every sequence "
                      "(/check/tokens)",
                      where, found, length_));
    }
  }
  std::vector<Token> take() && { return std::move(tokens_); }
  std::size_t length() const { return length_; }

 private:
  std::size_t length_;
  std::int64_t vocab_;
  std::vector<Token> tokens_;
  StopCounter now_and_then_{1 << 8};
};

void read_json_line(const TextLine& line, Samples& samples) {
  const Json json = json_line(line.text);
  const Json* tokens = &json;
  if (json.is_object()) {
    const auto found = json.find("tokens");
    tokens = found != json.end() ? &*found : nullptr;
  }
  if (tokens == nullptr || !tokens->is_array()) {
    throw UsageError(fmt::format(
        "{}: not a list of token ids, such as [4, 0, 2] or {{\"tokens\": [4, 0, 2]}}", line.where));
  }
  samples.require_length(tokens->size(), line.where);
  for (std::size_t i = 0; i < samples.length(); ++i) {
    const Json& token = (*tokens)[i];
    if (!token.is_number_integer()) {
      throw UsageError(fmt::format("{}: {} is not a token id", line.where, token.dump().substr(0, 40)));
    }
    samples.add(token.get<std::int64_t>(), line.where);
  }
}

void read_array(const NpyArray& array, const std::string& name, Samples& samples) {
  if (array.kind == 'f' || array.shape.size() != 2 || array.shape[1] == 0) {
    throw std::runtime_error("it is an array of another form");
  }
  const std::size_t columns = array.shape[1];
  samples.require_length(columns, name);
  for (std::size_t row = 0; row < array.shape[0]; ++row) {
    for (std::size_t i = 0; i < samples.length(); ++i) {
      samples.add(array.integer(row * columns + i), fmt::format("{}: row {}", name, row));
    }
  }
}

void read_npz(const std::string& text, const std::string& name, Samples& samples) {
  const NpzArchive archive(text);
  if (archive.names().size() != 1) throw std::runtime_error("it is not an archive of one array");
  read_array(archive.array(archive.names().front()), name, samples);
}

std::vector<Token> samples_in(const std::filesystem::path& file, std::size_t length, std::int32_t vocab) {
  Samples samples(length, vocab);
  const std::string text = read_text(file);
  const bool npz = file.extension() == ".npz";
  if (npz || file.extension() == ".npy") {
    try {
      npz ? read_npz(text, file.string(), samples) : read_array(parse_npy(text), file.string(), samples);
    } catch (const UsageError&) {
      throw;
    } catch (const std::runtime_error& error) {
      throw UsageError(fmt::format("{}: {}; save one two-dimensional array of integers by numpy.save{}",
                                   file.string(), error.what(), npz ? "z" : ""));
    }
  } else {
    for (const TextLine& line : lines_of(text, file.string())) read_json_line(line, samples);
  }
  std::vector<Token> tokens = std::move(samples).take();
  if (tokens.empty()) throw UsageError(fmt::format("{}: no sequences", file.string()));
  return tokens;
}

}  // namespace

std::vector<Token> read_samples(const std::filesystem::path& file, std::size_t length, std::int32_t vocab) {
  return read_in_memory(file.string(), [&] { return samples_in(file, length, vocab); });
}

}  // namespace speclab
