#include "sim/acceptance_stream.hpp"

namespace speclab {

AcceptanceBits iid_acceptances(double alpha, std::uint64_t seed, std::uint32_t trial, std::size_t positions) {
  BernoulliStream stream(seed, trial, iid_stream_slot, alpha);
  AcceptanceBits bits(positions);
  for (std::uint8_t& bit : bits) bit = stream.bernoulli() ? 1 : 0;
  return bits;
}

}  // namespace speclab
