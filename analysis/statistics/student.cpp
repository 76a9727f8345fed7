#include "analysis/statistics/student.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cstddef>
#include <map>
#include <utility>

namespace speclab {

// Quantiles are cached: a sweep needs the same few repeatedly, and computing one takes as long as the
// simulation of a small cell.
double student_quantile(double degrees, double confidence) {
  constexpr std::size_t max_kept = 1024;
  thread_local std::map<std::pair<double, double>, double> known;
  const auto found = known.find({degrees, confidence});
  if (found != known.end()) return found->second;
  if (known.size() == max_kept) known.clear();
  const boost::math::students_t_distribution<double> student(degrees);
  const double quantile = boost::math::quantile(boost::math::complement(student, (1 - confidence) / 2));
  known.emplace(std::pair{degrees, confidence}, quantile);
  return quantile;
}

}  // namespace speclab
