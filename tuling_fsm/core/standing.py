"""Below which speed something stands (m/s): one name for each reason, whatever module asks.

Speeds that can be set are parameters; those of a method (creeping, the least speed in a curve) are with the method.
"""

from __future__ import annotations

AT_REST = 1e-3
"""A computed speed, of a plan or of a simulated body: what is less is rounding."""
HELD = 0.02
"""The ego, where its next motion is planned from: slower is the noise of its odometry, and it may change direction."""
STOPPED = 0.05
"""The ego, where one motion ends and its time of standing begins: above that noise, below a speed that can be felt."""
VEHICLE_STANDS = 0.1
"""A vehicle, where a rule, a passenger or a report asks; the halting speed of SUMO."""
LINGERS = 0.2
"""A simulated agent that brakes toward a line or waits in a crowd, and comes to stand within a step."""
PEDESTRIAN_STANDS = 0.25
"""A perceived pedestrian or cyclist: a quarter of a slow walk, and the noise of an estimated speed."""
AGENT_STANDS = 0.3
"""A perceived agent of any kind: an estimated speed is no better than this."""
AGENT_MOVES = 0.5
"""A perceived agent that is certain to move, and the ego that moves fast enough to tell its curvature."""
