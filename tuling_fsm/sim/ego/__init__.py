"""The simulated car and the controller that follows its trajectory."""
