"""Run the command line as ``python -m stakes``."""

from stakes.cli import main

main()
