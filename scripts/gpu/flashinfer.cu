// FlashInfer's chain speculative sampling and softmax, compiled from the headers of its package, as C
// functions for ctypes. Their calls are those of its own bindings (flashinfer/data/csrc/sampling.cu). Each
// returns a cudaError_t.
#include <cstdint>

#include <cuda_runtime.h>
#include <flashinfer/sampling.cuh>

// Probabilities [rows, vocab] of logits at temperature 1.
extern "C" int softmax(float* logits, float* output, std::uint32_t rows, std::uint32_t vocab, void* workspace,
                       std::uint64_t workspace_bytes, cudaStream_t stream) {
  return flashinfer::sampling::OnlineSoftmax<float>(logits, output, rows, vocab, nullptr, 1.0F, workspace,
                                                    workspace_bytes, false, stream);
}

// Tokens [requests, drafted + 1], padded with -1; both counts [requests] are added to. Random numbers are
// those of seed and offset.
extern "C" int chain_speculative_sampling(float* draft, int* draft_ids, float* target, int* tokens,
                                          int* accepted, int* emitted, std::uint32_t requests,
                                          std::uint32_t drafted, std::uint32_t vocab, std::uint64_t* seed,
                                          std::uint64_t* offset, cudaStream_t stream) {
  return flashinfer::sampling::ChainSpeculativeSampling<float, int>(draft, draft_ids, target, tokens,
                                                                    accepted, emitted, requests, drafted,
                                                                    vocab, true, seed, 0, offset, 0, stream);
}
