"""Values to and from ROS 2 messages as serialized bytes (CDR), alike for node, simulator and bag files.

Nothing here needs a ROS installation. A message that cannot be used raises `InputError` with one line that says why.
"""
