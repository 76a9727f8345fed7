// Reads files of llama-perplexity's --kl-divergence-base: "_logits_", then i32 n_ctx, i32 n_vocab, i32
// n_chunk, the tokens, and for each chunk n_ctx - 1 - n_ctx / 2 rows of 2 ceil(V / 2) + 4 numbers of 16 bits:
// f32 scale, f32 minimum, then log p = scale u + minimum
// (https://github.com/ggml-org/llama.cpp/blob/master/tools/perplexity/perplexity.cpp). The text was given to
// the model, not drawn from it.
#include <algorithm>
#include <cstring>

#include "experiments/base/format/config_error.hpp"
#include "experiments/recording/recording_format.hpp"

namespace speclab {

namespace {

constexpr std::string_view magic = "_logits_";
constexpr std::size_t header_bytes = 8 + 3 * 4;
constexpr std::size_t row_header = 4;  // numbers of 16 bits

std::string not_kl_base(const RecordingSource& source) {
  return source.bytes().starts_with(magic) ? "" : "does not begin with _logits_";
}

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

RecordingPart read_kl_base(const RecordingSource& source) {
  const std::string_view bytes = source.bytes();
  const auto cut_off = [&] {
    return UsageError("{}: is cut off at byte {}; write it again by llama-perplexity --kl-divergence-base",
                      source.name(), bytes.size());
  };
  if (bytes.size() < header_bytes) throw cut_off();
  const auto context = number_at<std::int32_t>(bytes, 8);
  const auto vocab = number_at<std::int32_t>(bytes, 12);
  const auto chunks = number_at<std::int32_t>(bytes, 16);
  constexpr std::int32_t most = 1 << 26;
  if (context < 4 || vocab < 1 || chunks < 1 || context > most || vocab > most || chunks > most) {
    throw UsageError("{}: n_ctx {}, n_vocab {}, n_chunk {} at byte 8; expected positive numbers",
                     source.name(), context, vocab, chunks);
  }
  const auto n = static_cast<std::size_t>(context);
  const auto v = static_cast<std::size_t>(vocab);
  const auto chunk_count = static_cast<std::size_t>(chunks);
  const std::size_t rows_a_chunk = n - 1 - n / 2;
  const std::size_t row_bytes = 2 * (2 * ((v + 1) / 2) + row_header);
  const std::size_t begin = header_bytes + 4 * n * chunk_count;
  if (bytes.size() < begin || (bytes.size() - begin) / row_bytes < rows_a_chunk * chunk_count)
    throw cut_off();

  RowFile file;
  file.drawn = false;
  file.memory = source.file();
  file.target.where = source.name();
  file.target.rows = rows_a_chunk * chunk_count;
  file.target.vocab = v;
  for (std::size_t chunk = 0; chunk < chunk_count; ++chunk) {
    file.sequences.push_back({std::to_string(chunk), "", file.tokens.size(), rows_a_chunk});
    for (std::size_t i = 0; i < rows_a_chunk; ++i) {
      // Row i is the distribution after token n / 2 + i of the chunk.
      const std::size_t token = chunk * n + n / 2 + i + 1;
      file.tokens.push_back(number_at<std::int32_t>(bytes, header_bytes + 4 * token));
    }
  }
  file.target.at = [rows = bytes.substr(begin), row_bytes, v, name = source.name()](
                       std::size_t row, std::vector<float>& scratch) -> const void* {
    scratch.resize(v);
    const std::size_t at = row * row_bytes;
    const auto scale = number_at<float>(rows, at);
    const auto least = number_at<float>(rows, at + 4);
    for (std::size_t i = 0; i < v; ++i) {
      scratch[i] =
          scale * static_cast<float>(number_at<std::uint16_t>(rows, at + 2 * (row_header + i))) + least;
    }
    if (scale < 0 || *std::max_element(scratch.begin(), scratch.end()) > 1e-3F)
      throw UsageError("{}: row {} has scale {} and minimum {}; expected log-probabilities, at most 0", name,
                       row, scale, least);
    return scratch.data();
  };
  return file;
}

}  // namespace

RecordingFormat kl_base_format() {
  return {"kl-base", "llama-perplexity --kl-divergence-base: rows of one model over a given text.",
          not_kl_base, read_kl_base};
}

}  // namespace speclab
