// Marks functions that decide a token, so that the same source serves the CPU and the GPU.
#pragma once

#if defined(__CUDACC__)
#define SPECLAB_HD __host__ __device__
#else
#define SPECLAB_HD
#endif
