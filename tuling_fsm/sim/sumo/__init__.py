"""Traffic that SUMO drives ([sumo2018][]).

SUMO makes its own network of the OpenDRIVE map, drives everybody but the ego in this process, and is told in every
frame where the ego is. It needs the extra `sumo`: `libsumo` and `eclipse-sumo` of one version.
"""
