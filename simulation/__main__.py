"""`python -m simulation`: run seeds and print what was found (`./run simulate`)."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "simulation.settings")
    from simulation import plants

    plants.install(os.environ.get(plants.VARIABLE, ""))
    import django

    django.setup()
    from simulation import command

    sys.exit(command.main(sys.argv[1:]))
