#include "experiments/check/sample_file.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <bit>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>

#include "experiments/config/config_error.hpp"
#include "experiments/config/json_io.hpp"
#include "experiments/support/csv_reader.hpp"

namespace speclab {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t longest_header = 4096;  // NumPy writes some 120 bytes
constexpr std::uint64_t largest_array = 4e9;  // bytes, of an archive that may hold anything

/// Adds tokens one by one, checked.
class Samples {
 public:
  Samples(std::size_t length, std::int32_t vocab) : length_(length), vocab_(vocab) {}

  void add(std::int64_t token, const std::string& where) {
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

/// The integer of `size` bytes at `bytes`.
std::int64_t integer_at(const char* bytes, std::size_t size, bool is_signed) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, size);
  const auto unused = static_cast<int>(64 - 8 * size);
  return is_signed ? static_cast<std::int64_t>(value << unused) >> unused : static_cast<std::int64_t>(value);
}

/// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
void read_npy(std::string_view data, const std::string& name, Samples& samples) {
  const auto unusable = [&](const std::string& why) {
    return UsageError(
        fmt::format("{}: {}; save a two-dimensional array of integers by numpy.save", name, why));
  };
  if (data.substr(0, 6) != "\x93NUMPY" || data.size() < 12) throw unusable("not an .npy file");
  const std::size_t size_bytes = data[6] == 1 ? 2 : 4;
  const auto header_size = static_cast<std::size_t>(integer_at(data.data() + 8, size_bytes, false));
  const std::size_t begin = 8 + size_bytes;
  if (header_size > data.size() - begin) throw unusable("its header is cut off");
  if (header_size > longest_header) throw unusable("its header is longer than an array's");
  const std::string header(data.substr(begin, header_size));
  static const std::regex form(
      R"('descr': '[<|]([iu])([1248])'.*'fortran_order': False.*'shape': \((\d{1,15}), (\d{1,15})\))");
  std::smatch found;
  if (!std::regex_search(header, found, form))
    throw unusable(fmt::format("an array of another form: {}", header));
  const bool is_signed = found[1] == "i";
  const std::size_t bytes = std::stoull(found[2]);
  const std::size_t rows = std::stoull(found[3]);
  const std::size_t columns = std::stoull(found[4]);
  const std::string_view values = data.substr(begin + header_size);
  if (columns == 0 || values.size() / columns / bytes < rows) throw unusable("its data are cut off");
  samples.require_length(columns, name);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < samples.length(); ++i) {
      samples.add(integer_at(values.data() + (row * columns + i) * bytes, bytes, is_signed),
                  fmt::format("{}: row {}", name, row));
    }
  }
}

/// The one array of an .npz archive, as numpy.savez writes it.
std::string array_in(const std::string& archive, const std::string& name) {
  const auto unusable = [&](const char* why) {
    return UsageError(fmt::format("{}: {}; save one array of integers by numpy.savez", name, why));
  };
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(archive.data(), archive.size(), 0, &error);
  const std::unique_ptr<zip_t, decltype(&zip_discard)> opened(
      source != nullptr ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr, zip_discard);
  if (!opened) {
    if (source != nullptr) zip_source_free(source);
    throw unusable("not an .npz file");
  }
  zip_stat_t about;
  if (zip_get_num_entries(opened.get(), 0) != 1 || zip_stat_index(opened.get(), 0, 0, &about) != 0 ||
      (about.valid & ZIP_STAT_SIZE) == 0) {
    throw unusable("not an archive of one array");
  }
  if (about.size > largest_array) throw unusable("its array is larger than 4 GB");
  const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> entry(zip_fopen_index(opened.get(), 0, 0),
                                                                 zip_fclose);
  std::string array(entry ? about.size : 0, '\0');
  if (!entry || zip_fread(entry.get(), array.data(), array.size()) != static_cast<zip_int64_t>(array.size()))
    throw unusable("its array cannot be unpacked");
  return array;
}

}  // namespace

std::vector<Token> read_samples(const std::filesystem::path& file, std::size_t length, std::int32_t vocab) {
  Samples samples(length, vocab);
  const std::string text = read_text(file);
  if (file.extension() == ".npz") {
    read_npy(array_in(text, file.string()), file.string(), samples);
  } else if (file.extension() == ".npy") {
    read_npy(text, file.string(), samples);
  } else {
    for (const TextLine& line : lines_of(text, file.string())) read_json_line(line, samples);
  }
  std::vector<Token> tokens = std::move(samples).take();
  if (tokens.empty()) throw UsageError(fmt::format("{}: no sequences", file.string()));
  return tokens;
}

}  // namespace speclab
