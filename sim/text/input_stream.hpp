// Reads files from beginning to end; they may be pipes.
#pragma once

#include <array>
#include <filesystem>
#include <istream>
#include <streambuf>

namespace speclab {

/// The bytes of a file, as std::ifstream gives them. Reading from a pipe, a terminal or a device throws
/// Stopped if the work is to stop (core/stop.hpp). A file that cannot be opened gives a stream that fails,
/// and sets errno. Throws ModelError if reading fails later.
class InputStream final : public std::istream {
 public:
  explicit InputStream(const std::filesystem::path& file);

 private:
  class Bytes final : public std::streambuf {
   public:
    explicit Bytes(const std::filesystem::path& file);
    ~Bytes() override;
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;
    bool is_open() const { return descriptor_ >= 0; }

   protected:
    int_type underflow() override;

   private:
    void wait() const;

    std::filesystem::path name_;
    int descriptor_ = -1;
    bool waits_ = false;  ///< whether reading may wait for another program
    std::array<char, 1 << 16> buffer_;
  };

  Bytes bytes_;
};

}  // namespace speclab
