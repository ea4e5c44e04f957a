"""How messages go to a network and come from it: over HTTPS, or through folders.

A package of its own, which knows neither Django nor rows, nor what messages say (decision 0219).
"""

from __future__ import annotations

from networks.instant.transport.base import Delivery, NotTaken, Silent, Transport, Unavailable

__all__ = ["Delivery", "NotTaken", "Silent", "Transport", "Unavailable"]
