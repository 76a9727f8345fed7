#include "sim/text/text_file.hpp"

#include <fstream>
#include <system_error>

namespace speclab {

std::string load_text(const std::filesystem::path& file) {
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
  }
  return text;
}

}  // namespace speclab
