#include "kernels/simulate/simulate_layout.hpp"

#include <algorithm>
#include <limits>

#include "kernels/simulate/iid_rounds_kernel.hpp"
#include "kernels/simulate/table_rounds_kernel.hpp"

namespace speclab {

namespace {

/// Dynamic shared memory that every device since compute capability 8.0 allows a block.
constexpr std::size_t max_shared = std::size_t{163} * 1024;

std::uint64_t divided_up(std::uint64_t count, std::uint64_t by) { return (count + by - 1) / by; }

std::uint64_t length_bytes(const RunShape& shape) {
  return std::uint64_t{shape.cut().count()} * static_cast<std::uint64_t>(shape.gamma + 1) *
         sizeof(std::uint64_t);
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string(divided_up(bytes, 1U << 20U)) + " MiB"; }

}  // namespace

IidLayout iid_layout(const RunShape& shape) {
  const BatchCut cut = shape.cut();
  const std::uint64_t pieces = piece_count(cut);
  // No batch is longer than the first, and no piece longer than its first.
  const std::uint64_t longest = piece_at(cut, 0).rounds();
  IidLayout layout;
  layout.shares = static_cast<std::uint32_t>(divided_up(longest, IidRounds::share_rounds));
  const std::uint64_t fitting = std::max<std::uint64_t>(1, shape.limits.rounds / longest);
  layout.pieces = std::min({pieces, fitting, static_cast<std::uint64_t>(simt::max_blocks) / layout.shares});
  layout.launches = divided_up(pieces, layout.pieces);
  layout.launch = simt::launch_of<IidRounds>(static_cast<std::int64_t>(layout.pieces * layout.shares));
  layout.launch.dynamic_shared = IidRounds::shared_bytes(shape.gamma);
  layout.device_bytes = length_bytes(shape) + static_cast<std::uint64_t>(shape.gamma) * sizeof(std::uint64_t);
  layout.random_blocks = iid_block(cut.total - 1, shape.length) + 1 + pieces;
  return layout;
}

TableLayout table_layout(const RunShape& shape, const PreparedPairView& tables, std::size_t prompts) {
  using Kernel = TableRounds<TokenRule, 2>;  // all kernels have the same shape
  const auto steps_a_round = static_cast<std::uint64_t>(shape.gamma) + 1;
  const LaunchLimits& limits = shape.limits;
  const auto at_least_one = [](std::uint64_t count) { return std::max<std::uint64_t>(1, count); };
  TableLayout layout;
  layout.sequences = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      shape.trials, at_least_one(std::min(limits.sequences, limits.steps / steps_a_round))));
  layout.stretch = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      shape.length, at_least_one(std::min(limits.steps_in_a_row / steps_a_round,
                                          limits.steps / steps_a_round / layout.sequences))));
  layout.launches = divided_up(shape.trials, layout.sequences) * divided_up(shape.length, layout.stretch);
  layout.launch =
      simt::launch_of<Kernel>(static_cast<std::int64_t>(divided_up(layout.sequences, Kernel::threads)));
  layout.launch.dynamic_shared = Kernel::shared_bytes(shape.gamma);
  const std::uint64_t rows = std::uint64_t{tables.target_contexts} + tables.draft_contexts;
  layout.device_bytes =
      ((slot_parts * tables.contexts) << static_cast<unsigned>(tables.bits)) * sizeof(SamplingSlot) +
      tables.contexts * sizeof(std::uint64_t) + rows * tables.vocab * sizeof(double) +
      (prompts + layout.sequences) * sizeof(std::uint32_t) +
      static_cast<std::uint64_t>(2 * shape.gamma + 1) * sizeof(RoundState) + length_bytes(shape) +
      shape.cut().count() * sizeof(std::uint64_t);
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  layout.random_blocks = shape.total() > most / steps_a_round ? most : shape.total() * steps_a_round;
  return layout;
}

std::string layout_unsupported_reason(const SimulateLayout& layout, std::uint64_t memory_bytes) {
  if (layout.launch.dynamic_shared > max_shared) {
    return "it takes " + std::to_string(layout.launch.dynamic_shared) +
           " bytes of shared memory a thread block; devices have " + std::to_string(max_shared);
  }
  if (layout.device_bytes > memory_bytes) {
    return "it takes " + mebibytes(layout.device_bytes) + " of device memory; there are " +
           mebibytes(memory_bytes);
  }
  return "";
}

}  // namespace speclab
