#include "kernels/simulate/simulate.hpp"

#include <algorithm>
#include <memory>

#include "kernels/simulate/simulate_driver.hpp"

namespace speclab {

namespace {

class EmulatedDevice {
 public:
  explicit EmulatedDevice(simt::Order order) : executor_(order) {}

  template <class T>
  std::unique_ptr<T[]> copy(const T* host, std::size_t count) const {
    auto memory = std::make_unique<T[]>(count);
    std::copy_n(host, count, memory.get());
    return memory;
  }
  template <class T>
  std::unique_ptr<T[]> zeros(std::size_t count) const {
    return std::make_unique<T[]>(count);
  }
  template <class Kernel>
  void run(const simt::Launch& launch, const typename Kernel::Args& args) {
    executor_.run<Kernel>(launch, args);
  }
  template <class T>
  void take(T* memory, std::size_t count, T* scratch) const {
    std::copy_n(memory, count, scratch);
    std::fill_n(memory, count, T{});
  }

 private:
  simt::EmulatedExecutor executor_;
};

}  // namespace

RoundCounts simulate_emulated(const IidRun& run, const Watch& watch, simt::Order order) {
  return simulate(EmulatedDevice(order), run, watch);
}

RoundCounts simulate_emulated(const TableRun& run, const Watch& watch, simt::Order order) {
  return simulate(EmulatedDevice(order), run, watch);
}

}  // namespace speclab
