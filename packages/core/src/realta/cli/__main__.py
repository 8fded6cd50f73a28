"""``python -m realta.cli``."""

import sys

from realta.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
