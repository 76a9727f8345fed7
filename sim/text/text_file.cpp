#include "sim/text/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <system_error>

#include "sim/text/input_stream.hpp"
#include "sim/text/utf8.hpp"

namespace speclab {

bool is_endless(const std::filesystem::path& file) {
  struct stat about {};
  struct stat null {};
  if (::stat(file.c_str(), &about) != 0) return false;
  if (S_ISBLK(about.st_mode)) return true;
  if (!S_ISCHR(about.st_mode)) return false;
  const bool is_null = ::stat("/dev/null", &null) == 0 && null.st_rdev == about.st_rdev;
  const int descriptor = is_null ? -1 : ::open(file.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  const bool is_terminal = descriptor >= 0 && ::isatty(descriptor) == 1;
  if (descriptor >= 0) ::close(descriptor);
  return !is_null && !is_terminal;
}

std::string load_text(const std::filesystem::path& file, Encoding encoding) {
  constexpr std::size_t most = std::size_t{1} << 31U;
  InputStream in(file);
  std::error_code ignored;
  if (!in || std::filesystem::is_directory(file, ignored))
    throw ModelError(fmt::format("{}: cannot be read; expected a text file", file.string()));
  if (is_endless(file))
    throw ModelError(fmt::format("{}: is a device without an end; expected a text file", file.string()));
  std::string text;
  for (constexpr std::size_t block = std::size_t{1} << 22U; in;) {
    const std::size_t size = text.size();
    text.resize(size + block);
    in.read(text.data() + size, static_cast<std::streamsize>(block));
    text.resize(size + static_cast<std::size_t>(in.gcount()));
    if (text.size() > most)
      throw ModelError(fmt::format("{}: has more than {} bytes, the limit", file.string(), most));
  }
  if (encoding == Encoding::any) return text;
  if (text.starts_with("\xef\xbb\xbf")) {
    throw ModelError(fmt::format(
        "{}: begins with a byte order mark, the bytes EF BB BF, which would be part of its first word; leave them out (tail -c +4)",
        file.string()));
  }
  if (const auto byte = first_not_utf8(text)) {
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*byte), '\n') + 1;
    throw ModelError(fmt::format(
        "{}: byte {} (0x{:02x}, in line {}) is not UTF-8; convert the file (iconv -f latin1 -t utf-8, if it is Latin-1), or read it as bytes (\"tokenization\": \"bytes\")",
        file.string(), *byte + 1, static_cast<unsigned char>(text[*byte]), line));
  }
  return text;
}

}  // namespace speclab
