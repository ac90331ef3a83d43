"""`python -m enough` is `enough`."""

from enough.cli import main

main()
