"""One file for each kind of result: plain questions, and how they are answered."""
