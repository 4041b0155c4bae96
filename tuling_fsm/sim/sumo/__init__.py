"""Traffic that SUMO drives (Alvarez Lopez et al., Microscopic Traffic Simulation using SUMO, ITSC 2018).

SUMO makes its own network of the OpenDRIVE map, drives everybody but the ego in this process, and is told in every
frame where the ego is. It needs the extra `sumo`: `libsumo` and `eclipse-sumo` of one version.
"""
