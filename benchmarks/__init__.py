"""Speed as ratios against a ceiling measured in the same run: `./run bench PART`."""

from __future__ import annotations
