"""`python -m kproxy` is `kproxy`; spark-submit runs this file by its path."""

import sys
from pathlib import Path

if sys.path[0] == str(Path(__file__).parent):
    del sys.path[0]  # Python put it there for a file that is run by its path: kproxy's modules are no others' `errors`

from kproxy.cli import main

if __name__ == "__main__":
    sys.exit(main())
