"""Systems of several models: what an error of one of them costs the whole."""
