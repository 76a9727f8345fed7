// Verifies two drafted tokens on the CPU.
#include <speclab_kernels.h>
#include <stdio.h>

int main(void) {
  // Logits over four ids: the target's after the context and each drafted token, and the draft's.
  const float target[3][4] = {{1, 2, 0, 0}, {1, 2, 0, 0}, {1, 2, 0, 0}};
  const float draft[2][4] = {{2, 1, 0, 0}, {2, 1, 0, 0}};
  const int32_t drafted[2] = {1, 0};
  // Id 1 is accepted, since p/q = e. Id 0 is rejected, since p/q = 1/e < 0.5; only id 1 has p > q.
  const double uniforms[3] = {0.9, 0.5, 0.3};
  int32_t accepted = 0, next = 0;
  speclab_verify_batch batch = {.struct_size = sizeof batch, .requests = 1, .gamma = 2, .vocab = 4};
  batch.target = (speclab_rows){target, 12, 4};
  batch.draft = (speclab_rows){draft, 8, 4};
  batch.drafted = drafted;
  batch.uniforms = uniforms;
  batch.accepted = &accepted;
  batch.next = &next;
  if (speclab_verify_on_cpu(&batch, 0) != speclab_ok) {
    fprintf(stderr, "%s\n", speclab_last_error());
    return 1;
  }
  printf("accepted %d, next %d\n", (int)accepted, (int)next);  // accepted 1, next 1
  return 0;
}
