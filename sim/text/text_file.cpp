#include "sim/text/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <system_error>

#include "sim/text/utf8.hpp"

namespace speclab {

std::string load_text(const std::filesystem::path& file, Encoding encoding) {
  constexpr std::size_t most = std::size_t{1} << 31U;
  std::ifstream in(file, std::ios::binary);
  std::error_code ignored;
  if (!in || std::filesystem::is_directory(file, ignored)) {
    throw ModelError(fmt::format("{}: cannot be read; expected a text file", file.string()));
  }
  std::string text;
  for (constexpr std::size_t block = std::size_t{1} << 22U; in;) {
    const std::size_t size = text.size();
    text.resize(size + block);
    in.read(text.data() + size, static_cast<std::streamsize>(block));
    text.resize(size + static_cast<std::size_t>(in.gcount()));
    if (text.size() > most) {
      throw ModelError(fmt::format("{}: has more than {} bytes, the most that is read", file.string(), most));
    }
  }
  if (encoding == Encoding::any) return text;
  if (const auto byte = first_not_utf8(text)) {
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*byte), '\n') + 1;
    throw ModelError(fmt::format(
        "{}: byte {} (0x{:02x}, in line {}) is not UTF-8; convert the file (iconv -f latin1 -t utf-8, if "
        "it is Latin-1), or read it as bytes (\"tokenization\": \"bytes\")",
        file.string(), *byte + 1, static_cast<unsigned char>(text[*byte]), line));
  }
  return text;
}

}  // namespace speclab
