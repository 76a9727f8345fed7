#include "experiments/base/support/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "experiments/base/support/printable.hpp"

namespace speclab {
namespace {

constexpr std::int64_t redraw_nanoseconds = 100'000'000;
constexpr const char* clear_line = "\r\x1b[K";

// Formats a number as "870" or "1.2e6", which is shorter than printf's exponents.
std::string short_number(double value) {
  if (value < 999.5) return fmt::format("{:.{}f}", value, value < 9.95 ? 1 : 0);
  int exponent = static_cast<int>(std::floor(std::log10(value)));
  double mantissa = value / std::pow(10.0, exponent);
  if (mantissa >= 9.95) {
    mantissa = 1.0;
    ++exponent;
  }
  return fmt::format("{:.1f}e{}", mantissa, exponent);
}

std::string short_time(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5970.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace

std::string progress_line(std::string_view title, std::uint64_t done, std::uint64_t total, double seconds) {
  const std::uint64_t reached = std::min(done, total);
  const double fraction = total == 0 ? 1.0 : static_cast<double>(reached) / static_cast<double>(total);
  // The share is rounded down: 100% means done.
  std::string line = fmt::format("{}  {:.0f}%", title, std::floor(100.0 * fraction));
  if (done > 0 && seconds > 0.0) {
    const double rate = static_cast<double>(done) / seconds;
    line += fmt::format("  {}/s  {} left", short_number(rate),
                        short_time(static_cast<double>(total - reached) / rate));
  }
  return line;
}

Progress::Progress(std::string title, std::uint64_t total, bool quiet, std::chrono::nanoseconds plain_every)
    : title_(std::move(title)),
      total_(total),
      shown_(!quiet),
      in_place_(::isatty(STDERR_FILENO) == 1),
      every_(in_place_ ? redraw_nanoseconds : plain_every.count()),
      start_(std::chrono::steady_clock::now()),
      next_draw_(every_) {}

Progress::~Progress() {
  const bool drawn = next_draw_.load() != every_;
  if (shown_ && in_place_ && drawn) std::fputs(clear_line, stderr);
}

void Progress::advance(std::uint64_t steps) {
  const std::uint64_t done = done_.fetch_add(steps, std::memory_order_relaxed) + steps;
  if (!shown_) return;
  const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - start_;
  std::int64_t due = next_draw_.load(std::memory_order_relaxed);
  // Only the thread that advances the due time draws.
  if (passed.count() < due) return;
  if (!next_draw_.compare_exchange_strong(due, passed.count() + every_)) return;
  const double seconds = std::chrono::duration<double>(passed).count();
  const std::string text = progress_line(title_, done, total_, seconds);
  const std::lock_guard lock(drawing_);
  if (!in_place_) return print_error(text);
  std::fputs((clear_line + text).c_str(), stderr);
}

}  // namespace speclab
