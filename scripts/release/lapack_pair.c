/* The two functions of LAPACK that CoinUtils links (objdump -T: dgetrf_, dgetrs_), for wheels: LAPACK and its Fortran libraries are 11 MB, and
   linear programs of speclab never call them. Should one call them, they do what LAPACK's documentation says: factors P A = L U with the largest
   pivot of each column, and solves with these factors. Matrices are stored by columns. Compiled as liblapack.so.3, and compared with NumPy by
   scripts/release/wheel.sh. */
#include <math.h>

#define AT(i, j) a[(i) + (long)(j) * *lda]

static void swap(double* x, double* y) {
  const double kept = *x;
  *x = *y;
  *y = kept;
}

void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* pivots, int* info) {
  const int steps = *m < *n ? *m : *n;
  *info = 0;
  for (int k = 0; k < steps; ++k) {
    int pivot = k;
    for (int i = k + 1; i < *m; ++i) {
      if (fabs(AT(i, k)) > fabs(AT(pivot, k))) pivot = i;
    }
    pivots[k] = pivot + 1;
    if (AT(pivot, k) == 0) { /* U is singular: the first such column, counted from 1 */
      if (*info == 0) *info = k + 1;
      continue;
    }
    if (pivot != k) {
      for (int j = 0; j < *n; ++j) swap(&AT(k, j), &AT(pivot, j));
    }
    for (int i = k + 1; i < *m; ++i) AT(i, k) /= AT(k, k);
    for (int j = k + 1; j < *n; ++j) {
      for (int i = k + 1; i < *m; ++i) AT(i, j) -= AT(i, k) * AT(k, j);
    }
  }
}

/* Solves A x = b (trans "N") or the transposed system, for `columns` right sides. */
void dgetrs_(const char* trans, const int* n, const int* columns, const double* a, const int* lda, const int* pivots, double* b, const int* ldb,
             int* info) {
  const int transposed = *trans != 'N' && *trans != 'n';
  *info = 0;
  for (int column = 0; column < *columns; ++column) {
    double* x = b + (long)column * *ldb;
    if (!transposed) {
      for (int k = 0; k < *n; ++k) swap(&x[k], &x[pivots[k] - 1]);
      for (int j = 0; j < *n; ++j) {
        for (int i = j + 1; i < *n; ++i) x[i] -= AT(i, j) * x[j];
      }
      for (int j = *n - 1; j >= 0; --j) {
        x[j] /= AT(j, j);
        for (int i = 0; i < j; ++i) x[i] -= AT(i, j) * x[j];
      }
    } else {
      for (int j = 0; j < *n; ++j) {
        for (int i = 0; i < j; ++i) x[j] -= AT(i, j) * x[i];
        x[j] /= AT(j, j);
      }
      for (int j = *n - 1; j >= 0; --j) {
        for (int i = j + 1; i < *n; ++i) x[j] -= AT(i, j) * x[i];
      }
      for (int k = *n - 1; k >= 0; --k) swap(&x[k], &x[pivots[k] - 1]);
    }
  }
}
