// Exact arithmetic: with it, enumeration is proof.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

namespace speclab {

using Rational = boost::multiprecision::cpp_rational;

}  // namespace speclab
