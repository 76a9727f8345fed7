// `speclab prove CONFIG --requests`: tries the options of requests, engines' orders and mistakes one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/distribution/request_options.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/verify/prove/proof.hpp"

namespace speclab {

/// One option in one engine's order, on the right rows.
struct OptionRow {
  std::string option;
  std::string order;
  OrderedMap<double> tv = {};  ///< total variation of rounds to plain decoding, by rule
  double from_first = 0;       ///< total variation of plain decoding to that in the first order
};

/// One option under one fault, with token verification.
struct FaultRow {
  std::string fault;
  std::string option;          ///< at strength 1
  OrderedMap<double> tv = {};  ///< total variation to plain decoding, by strength of the option
  double block_tv = 0;         ///< the same for block verification at strength 1
  double emitted = 0;          ///< expected tokens of a round at strength 1
  double right_emitted = 0;    ///< the same without the fault
};

struct RequestSurvey {
  std::int32_t gamma = 1;
  std::uint64_t tokens = 1;  ///< number of tokens that are compared
  std::vector<OptionRow> options = {};
  std::vector<FaultRow> faults = {};
  /// Whether every option is lossless on right rows, and every fault but the draft's is refuted.
  bool as_expected = false;
};
SPECLAB_IS_DESCRIBED(RequestSurvey);

/// Tries every option, order and fault on the rows, gamma and prompt of a task.
RequestSurvey survey_requests(const ProofTask& task, std::size_t tokens);

Listing request_survey_text(const RequestSurvey& survey);
std::string request_survey_headline(const RequestSurvey& survey);

}  // namespace speclab
