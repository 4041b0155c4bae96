"""The hierarchical state-machine planner of a low-speed autonomous competition car, and its simulator."""
