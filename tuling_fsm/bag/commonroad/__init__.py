"""CommonRoad scenarios (2018b and 2020a): lanelets as an OpenDRIVE map, recorded traffic as a bag."""
