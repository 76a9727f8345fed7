// Speculative decoding of a request whose rows depend on all tokens before them (core/distribution/
// request_law.hpp), over several rounds: the exact distribution of the first tokens, by rounds and without
// them. A HistoryFault describes what a mistaken engine does differently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "analysis/exact/losslessness.hpp"
#include "core/distribution/request_law.hpp"

namespace speclab {

/// Which rows of a round are filtered, and which tokens the filters take for the emitted ones. Row i of a
/// round is the target's after i drafted tokens; row gamma is the bonus row. The defaults are right.
struct HistoryFault {
  enum class Rows : std::uint8_t { all, bonus, drafted, none };
  enum class Counted : std::uint8_t { emitted, last_of_round, with_rejected, accepted_twice };

  Rows target_rows = Rows::all;             ///< the target's rows on which `filters` act
  std::vector<RequestFilter> filters = {};  ///< the filters that `target_rows` is about; empty: all
  bool draft_filtered = true;               ///< false: the draft's rows are not filtered
  bool within_round = true;                 ///< whether row i counts the i tokens drafted before it
  bool token_late = false;                  ///< whether the last of the tokens before a row is not counted
  bool draft_forgets = false;          ///< whether the draft's rows count the tokens of their round alone
  bool round_late = false;             ///< whether the tokens of a round are counted a round later
  Counted counted = Counted::emitted;  ///< the tokens of a round that are counted after it
  std::string_view engine = {};        ///< the target's rows are filtered in this engine's order

  /// Returns whether what is counted depends on more than the emitted tokens.
  bool miscounts() const { return round_late || counted != Counted::emitted; }
};

/// A request: filters of both models, and the number of tokens to compare.
struct RequestTask {
  RequestLaw target;
  RequestLaw draft;
  HistoryFault fault = {};
  std::size_t tokens = 1;
};

/// Thrown if the filters leave no token of a row. The message names the tokens before it.
struct EmptyRowError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Compares the first `task.tokens` tokens after `prompt`, decoded by rounds, with decoding without rounds
/// through the right rows. Filtered rows are computed as doubles; with Rational they are these doubles,
/// exactly, and normalised exactly. `accepted`, `expected_accepted`, `expected_emitted` and `rejection` are
/// means over all rounds that start before the last of these tokens. Throws EmptyRowError. Instantiated for
/// double and Rational.
template <class Real>
Losslessness<Real> examine_request(ModelRef<Real> target, ModelRef<Real> draft, const EnumerableRule& rule,
                                   std::int32_t gamma, std::span<const Token> prompt,
                                   const RequestTask& task);

}  // namespace speclab
