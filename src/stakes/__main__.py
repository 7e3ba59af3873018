"""Run the command line as ``python -m stakes``."""

from stakes.cli import main

if __name__ == "__main__":
    main()
