"""`python -m wayfare`."""

from wayfare.cli import main

if __name__ == "__main__":
    main()
