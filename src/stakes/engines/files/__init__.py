"""Files that hold rows, or figures: what is meant by a name, how rows are read, how answers are written."""
