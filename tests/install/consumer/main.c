/* Another project's C program: computes the kernels' sizes, which needs no GPU. */
#include <speclab_kernels.h>
#include <stdio.h>

int main(void) {
  speclab_verify_batch batch = {sizeof batch, 0, 8, 4, 1000};
  size_t bytes = 0;
  if (speclab_verify_workspace_bytes(&batch, &bytes) != speclab_ok) {
    printf("%s\n", speclab_last_error());
    return 1;
  }
  printf("kernels %u, workspace %s\n", (unsigned)speclab_kernels_version(), bytes > 0 ? "known" : "empty");
  return 0;
}
