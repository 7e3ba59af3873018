"""Tensors are counted where they lie: on a GPU, through PyTorch or CuPy."""
