"""``python -m realta_conformance.cli``."""

import sys

from realta_conformance.cli.entry import main

sys.exit(main())
