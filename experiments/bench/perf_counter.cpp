#include "experiments/bench/perf_counter.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace speclab {

CacheMisses::CacheMisses() {
  perf_event_attr what{};
  what.type = PERF_TYPE_HARDWARE;
  what.size = sizeof(what);
  what.config = PERF_COUNT_HW_CACHE_MISSES;
  what.disabled = 1;
  what.exclude_kernel = 1;  // what perf_event_paranoid = 2, the usual setting, asks for
  what.exclude_hv = 1;
  constexpr int this_thread = 0;
  constexpr int any_processor = -1;
  constexpr int no_group = -1;
  descriptor_ =
      static_cast<int>(syscall(SYS_perf_event_open, &what, this_thread, any_processor, no_group, 0UL));
}

CacheMisses::~CacheMisses() {
  if (descriptor_ >= 0) close(descriptor_);
}

void CacheMisses::start() {
  if (descriptor_ < 0) return;
  ioctl(descriptor_, PERF_EVENT_IOC_RESET, 0);
  ioctl(descriptor_, PERF_EVENT_IOC_ENABLE, 0);
}

std::optional<std::uint64_t> CacheMisses::stop() {
  if (descriptor_ < 0) return std::nullopt;
  ioctl(descriptor_, PERF_EVENT_IOC_DISABLE, 0);
  std::uint64_t misses = 0;
  if (read(descriptor_, &misses, sizeof(misses)) != sizeof(misses)) return std::nullopt;
  return misses;
}

}  // namespace speclab
