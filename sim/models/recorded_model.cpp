#include "sim/models/recorded_model.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

namespace speclab {

namespace {

constexpr std::size_t code_bits = 32;

}  // namespace

RecordedModel::RecordedModel(std::shared_ptr<const std::vector<double>> ratios, Side side)
    : ratios_(std::move(ratios)), side_(side) {
  assert(!ratios_->empty());
}

Row RecordedModel::next(std::span<const Token> context, std::vector<double>& scratch) const {
  assert(context.size() >= code_bits);
  if (side_ == Side::draft || side_ == Side::target_rate) {
    scratch.assign({1, 0});
    return {scratch.data(), 2};
  }
  std::size_t position = 0;
  for (const Token bit : context.first(code_bits)) position = 2 * position + static_cast<std::size_t>(bit);
  position = (position + context.size() - code_bits) % ratios_->size();
  const double ratio = (*ratios_)[position];
  const double keep = std::min(1.0, ratio);
  if (side_ == Side::target) {
    scratch.assign({keep, 1 - keep});
  } else {
    scratch.assign({ratio, 0});
  }
  return {scratch.data(), 2};
}

std::vector<Token> RecordedModel::prompt(std::uint32_t start) {
  std::vector<Token> code(code_bits);
  for (std::size_t i = 0; i < code_bits; ++i)
    code[i] = static_cast<Token>((start >> static_cast<std::uint32_t>(code_bits - 1 - i)) & 1U);
  return code;
}

}  // namespace speclab
