#include "experiments/run/input_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/data_files.hpp"
#include "experiments/base/support/text_files.hpp"

namespace speclab {

namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    require(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void add(std::string_view bytes) {
    require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }
  std::string digits() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    require(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
    return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + size, ""));
  }

 private:
  static void require(bool done) {
    if (!done) throw std::runtime_error("OpenSSL cannot compute SHA-256");
  }
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.digits();
}

InputFile input_file_of(const std::string& file) {
  const auto fail = [&](const std::string& which, const char* reason) {
    throw ConfigError("/", "the input file {} {}", which, reason);
  };
  InputFile read{.file = shipped_name(file), .bytes = 0, .sha256 = {}};
  Sha256 hash;
  std::vector<char> buffer(1 << 20);
  const auto add = [&](const std::string& one) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(one, error))
      fail(one, "is not a regular file; copy its content into one");
    std::ifstream stream(one, std::ios::binary);
    if (!stream) fail(one, "cannot be read");
    do {
      end_if_stopped();
      stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
      const auto count = static_cast<std::size_t>(stream.gcount());
      hash.add({buffer.data(), count});
      read.bytes += count;
    } while (stream);
    if (!stream.eof()) fail(one, "cannot be read to its end");
  };
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    // File names belong to a folder's content: equal bytes in other files are other documents.
    for (const std::filesystem::path& one : text_files(file)) {
      hash.add(std::filesystem::relative(one, file).string() + "\n");
      add(one.string());
    }
  } else {
    add(file);
  }
  read.sha256 = hash.digits();
  return read;
}

}  // namespace speclab
