"""Run the command line with `python -m sigjax`."""

from sigjax.cli import main

if __name__ == "__main__":
    main()
