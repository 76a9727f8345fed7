// Marks functions that decide a token, so that the same source compiles for the CPU and the GPU.
#pragma once

#if defined(__CUDACC__)
#define SPECLAB_HD __host__ __device__
#define SPECLAB_INLINE __forceinline__ __host__ __device__
#define SPECLAB_RARE
#else
#define SPECLAB_HD
/// Marks a function for CPU and GPU that is inlined wherever it is called.
#define SPECLAB_INLINE [[gnu::always_inline]] inline
/// Marks rarely run code, compiled outside the loops so that it costs them no registers.
#define SPECLAB_RARE [[gnu::cold, gnu::noinline]]
#endif
