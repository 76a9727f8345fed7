// Lists every format of recordings in the order in which they are tried, one line each.
#include "experiments/recording/recording_format.hpp"

// clang-format off
#define SPECLAB_RECORDING_FORMATS(ENTRY) \
  ENTRY(named_fields)                    \
  ENTRY(csv)                             \
  ENTRY(json_lines)                      \
  ENTRY(openai_completions)              \
  ENTRY(openai_chat)                     \
  ENTRY(openai_responses)                \
  ENTRY(vllm)                            \
  ENTRY(llama_server)                    \
  ENTRY(ollama)                          \
  ENTRY(tgi)                             \
  ENTRY(sglang)                          \
  ENTRY(npz)                             \
  ENTRY(safetensors)                     \
  ENTRY(kl_base)
// clang-format on

namespace speclab {

#define SPECLAB_DECLARE_FORMAT(name) RecordingFormat name##_format();
SPECLAB_RECORDING_FORMATS(SPECLAB_DECLARE_FORMAT)

std::vector<RecordingFormat>& recording_formats() {
#define SPECLAB_LIST_FORMAT(name) name##_format(),
  static std::vector<RecordingFormat> all{SPECLAB_RECORDING_FORMATS(SPECLAB_LIST_FORMAT)};
  return all;
}

}  // namespace speclab
