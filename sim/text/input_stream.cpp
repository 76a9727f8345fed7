#include "sim/text/input_stream.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/stop.hpp"
#include "sim/error.hpp"

namespace speclab {

InputStream::InputStream(const std::filesystem::path& file) : std::istream(nullptr), bytes_(file) {
  rdbuf(&bytes_);
  exceptions(std::ios::badbit);  // lets Stopped through
  if (!bytes_.is_open()) setstate(std::ios::failbit);
}

// Opening a pipe would wait for its writer. Reading waits as well, but can be stopped.
InputStream::Bytes::Bytes(const std::filesystem::path& file)
    : name_(file), descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat about = {};
  waits_ = descriptor_ >= 0 && !(::fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode));
}

InputStream::Bytes::~Bytes() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputStream::Bytes::wait() const {
  // A signal may interrupt another thread instead of this one, so this one polls.
  constexpr int milliseconds = 100;
  pollfd descriptor{descriptor_, POLLIN, 0};
  while (::poll(&descriptor, 1, milliseconds) <= 0) end_if_stopped();
}

InputStream::int_type InputStream::Bytes::underflow() {
  if (descriptor_ < 0) return traits_type::eof();
  for (;;) {
    end_if_stopped();
    if (waits_) wait();
    const ::ssize_t count = ::read(descriptor_, buffer_.data(), buffer_.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0)
      throw ModelError(fmt::format("{}: cannot be read: {}", name_.string(), std::strerror(errno)));
    if (count == 0) return traits_type::eof();
    setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
    return traits_type::to_int_type(buffer_.front());
  }
}

}  // namespace speclab
