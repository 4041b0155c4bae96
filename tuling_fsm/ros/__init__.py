"""The ROS 2 rim: nodes, their parameters, the processes that `tuling-fsm` starts. Only here rclpy is imported."""
