// Marks functions that decide a token, so that the same source serves the CPU and the GPU.
#pragma once

#if defined(__CUDACC__)
#define SPECLAB_HD __host__ __device__
#define SPECLAB_RARE
#else
#define SPECLAB_HD
/// What hardly ever happens: kept out of the loops that would carry its registers.
#define SPECLAB_RARE [[gnu::cold, gnu::noinline]]
#endif
