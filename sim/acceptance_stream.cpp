#include "sim/acceptance_stream.hpp"

namespace speclab {

AcceptanceBits iid_acceptances(double alpha, std::uint64_t seed, std::uint32_t trial, std::size_t positions) {
  CoinStream coins(seed, trial, iid_stream_slot, alpha);
  AcceptanceBits bits(positions);
  for (std::uint8_t& bit : bits) bit = coins.flip() ? 1 : 0;
  return bits;
}

}  // namespace speclab
