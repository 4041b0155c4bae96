"""CARLA's side of the wire: the messages of carla-ros-bridge, and what they mean to the planner."""
