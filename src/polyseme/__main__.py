"""`python -m polyseme`, the same as the command `polyseme`."""

from polyseme.cli import main

main()
