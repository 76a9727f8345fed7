// Marks functions that decide a token, so that the same source serves the CPU and the GPU.
#pragma once

#if defined(__CUDACC__)
#define SPECLAB_HD __host__ __device__
#define SPECLAB_INLINE __forceinline__ __host__ __device__
#define SPECLAB_RARE
#else
#define SPECLAB_HD
/// Such a function that is inlined wherever it is called.
#define SPECLAB_INLINE [[gnu::always_inline]] inline
/// Code that hardly ever runs: compiled apart from the loops, so that it costs them no registers.
#define SPECLAB_RARE [[gnu::cold, gnu::noinline]]
#endif
