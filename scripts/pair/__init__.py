"""The neural pair of configs/neural: modules that train, read and write it."""
