"""The film of a drive that goes on: what is new goes from the drive to a server, and from there to open pages."""
