"""Counts tensors on their device, a GPU, through PyTorch or CuPy."""
