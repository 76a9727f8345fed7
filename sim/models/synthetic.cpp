#include "sim/models/synthetic.hpp"

#include <boost/random/gamma_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>
#include <cstddef>

#include "core/distribution/transforms.hpp"
#include "core/random/philox.hpp"
#include "core/stop.hpp"

namespace speclab {

std::vector<double> zipf_row(std::int32_t vocab, double exponent, bool reversed) {
  std::vector<double> row(static_cast<std::size_t>(vocab));
  for (std::size_t id = 0; id < row.size(); ++id) {
    const std::size_t rank = reversed ? row.size() - id : id + 1;
    row[id] = std::pow(static_cast<double>(rank), -exponent);
  }
  normalise(row);
  return row;
}

std::vector<double> uniform_row(std::int32_t vocab) {
  return std::vector<double>(static_cast<std::size_t>(vocab), 1.0 / vocab);
}

std::vector<double> dirichlet_rows(std::int32_t vocab, std::uint32_t rows, double concentration,
                                   std::uint64_t seed) {
  std::vector<double> all;
  std::vector<double> logs(static_cast<std::size_t>(vocab));
  std::vector<double> row(logs.size());
  // Gamma(a) = Gamma(a + 1) * U^(1/a), in logarithms, so that a concentration near 0 does not underflow to
  // 0/0.
  boost::random::gamma_distribution<double> gamma(concentration + 1, 1.0);
  for (std::uint32_t index = 0; index < rows; ++index) {
    end_if_stopped();
    Philox stream(seed, Site{index, 0, Draw{Use::world, 0}});
    gamma.reset();
    for (double& log_probability : logs)
      log_probability = std::log(gamma(stream)) + std::log(open_unit(stream())) / concentration;
    softmax(logs, 1, row);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

std::vector<double> point_row(std::int32_t vocab, std::int32_t id) {
  std::vector<double> row(static_cast<std::size_t>(vocab), 0.0);
  row[static_cast<std::size_t>(id)] = 1;
  return row;
}

}  // namespace speclab
