"""rosbag2 files: a run recorded, read back tick by tick, and replayed."""
