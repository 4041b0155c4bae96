"""carla-ros-bridge on one side, the planner on the other."""
