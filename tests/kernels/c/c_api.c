/* A C99 program that links the shared library: tests that the header is valid C, and that bad arguments are
 * refused. Device pointers are made up, so that nothing is launched even on a machine with a device. */
#include <speclab_kernels.h>

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(int holds, const char* what) {
  if (holds) return;
  printf("%s: does not hold; last error: %s\n", what, speclab_last_error());
  ++failures;
}

static void* region(uintptr_t index) { return (void*)((index + 1) << 24); }

int main(void) {
  speclab_verify_batch batch;
  size_t bytes = 0;
  int other = 0;
  const char* device = NULL;
  memset(&batch, 0, sizeof batch);
  batch.struct_size = sizeof batch;
  batch.requests = 16;
  batch.gamma = 4;
  batch.vocab = 32000;
  batch.target_dtype = speclab_bf16;
  batch.draft_dtype = speclab_bf16;
  batch.target.data = region(0);
  batch.target.row_stride = batch.vocab;
  batch.target.request_stride = (int64_t)(batch.gamma + 1) * batch.vocab;
  batch.draft.data = region(1);
  batch.draft.row_stride = batch.vocab;
  batch.draft.request_stride = (int64_t)batch.gamma * batch.vocab;
  batch.drafted = region(2);
  batch.addresses = region(3);
  batch.accepted = region(4);
  batch.next = region(5);

  check(speclab_kernels_version() == SPECLAB_KERNELS_VERSION, "the library is the header's");
  check(strcmp(speclab_last_error(), "") == 0, "no error before any");
  check(strcmp(speclab_implementation_name(0), "fused") == 0, "implementation 0 is fused");
  for (other = 0; speclab_implementation_name(other) != NULL; ++other) {
    batch.implementation = other;
    batch.sigmoid_alpha = -1000;
    batch.sigmoid_beta = 1000;
    check(speclab_verify_workspace_bytes(&batch, &bytes) == speclab_ok, "every implementation has a size");
  }
  batch.implementation = 0;
  check(speclab_verify_workspace_bytes(&batch, &bytes) == speclab_ok && bytes > 0, "workspace bytes");
  check(speclab_verify(&batch, region(6), bytes - 1, NULL) == speclab_invalid_argument, "small workspace");
  check(strstr(speclab_last_error(), "workspace_bytes") != NULL, "the error names the field");
  check(speclab_verify(NULL, NULL, 0, NULL) == speclab_invalid_argument, "no batch");
  batch.next = batch.accepted;
  check(speclab_verify(&batch, region(6), bytes, NULL) == speclab_invalid_argument, "outputs overlap");
  batch.next = region(5);

  device = speclab_device_name();
  if (device != NULL) {
    printf("device: %s; the launch is not tried with made-up pointers\n", device);
  } else {
    printf("no device: %s\n", speclab_last_error());
    check(speclab_verify(&batch, region(6), bytes, NULL) == speclab_cuda_error, "no launch without a device");
    check(strlen(speclab_last_error()) > 0, "the error says why");
    printf("refused: %s\n", speclab_last_error());
  }
  batch.requests = 0;
  check(speclab_verify(&batch, NULL, 0, NULL) == speclab_ok, "an empty batch is no work");
  return failures == 0 ? 0 : 1;
}
